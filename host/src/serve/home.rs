//! `/`: a page for people.

use std::fmt::Write;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Html;

use super::Shared;
use super::reply::Failure;
use crate::query::TableKind;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    pre{background:#f4f4f4;padding:.6rem;overflow-x:auto}code{font-size:.9em}td{padding-right:1.5rem}";

/// `GET /`
pub async fn get(State(app): State<Shared>, headers: HeaderMap) -> Result<Html<String>, Failure> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:8288");
    let mut out = String::from("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>nuthatch</title>");
    // Writing to a string cannot fail.
    let _ = write!(out, "<style>{STYLE}</style><h1>nuthatch</h1>");
    let endpoints = app.engine.endpoints().await?;
    if endpoints.is_empty() {
        out.push_str("<p>No nest is served yet.</p>");
    }
    for info in &endpoints {
        let name = info.endpoint.name.as_str();
        let chain = info.cursor.chain_id;
        let version = escape(&info.endpoint.version.to_string());
        let _ = write!(out, "<h2><a href=\"/nests/{name}\">{name}</a> {version} <small>chain {chain}</small></h2>");
        let described = match app.engine.describe(&info.endpoint.name).await {
            Ok(described) => described,
            Err(error) => {
                let _ = write!(out, "<p>{}</p>", escape(&error.to_string()));
                continue;
            }
        };
        let reach = match (described.meta.as_of_block, &described.meta.reason) {
            (Some(block), None) => format!("Rows reach the head, block {block}."),
            (Some(block), Some(reason)) => format!("Rows reach block {block}: {reason}."),
            (None, _) => "Nothing is indexed yet.".to_owned(),
        };
        let _ = write!(out, "<p>{}</p><table>", escape(&reach));
        for table in &described.tables {
            let rows = match (table.kind, table.rows) {
                (TableKind::View, _) => "view".to_owned(),
                (TableKind::Table, Some(rows)) => format!("{rows} rows"),
                (TableKind::Table, None) => String::new(),
            };
            let (table, doc) = (escape(&table.name), escape(&table.doc));
            let link = format!("<a href=\"/nests/{name}/tables/{table}\">{table}</a>");
            let _ = write!(out, "<tr><td>{link}</td><td>{rows}</td><td>{doc}</td></tr>");
        }
        out.push_str("</table>");
        let first = described.tables.first().map_or("_status", |table| table.name.as_str());
        for sql in [
            "SHOW TABLES".to_owned(),
            format!("DESCRIBE {first}"),
            format!("SELECT * FROM {first} ORDER BY block_number DESC LIMIT 5"),
        ] {
            let command = format!("curl -s 'http://{host}/nests/{name}/sql' -d '{sql}'");
            let _ = write!(out, "<pre>{}</pre>", escape(&command));
        }
    }
    out.push_str(
        "<p><a href=\"/nests\">/nests</a> <a href=\"/ready\">/ready</a> <a href=\"/metrics\">/metrics</a></p></html>",
    );
    Ok(Html(out))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
