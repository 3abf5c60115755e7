//! `/nests`: what is served, and what each nest offers.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::Shared;
use super::reply::{Failure, json as json_reply};
use super::sql::nest;
use crate::query::{Description, EndpointInfo, TableInfo, TableKind};
use crate::store::DatasetStatus;

/// `GET /nests`
pub async fn list(State(app): State<Shared>) -> Result<Response, Failure> {
    let nests: Vec<Value> = app.engine.endpoints().await?.iter().map(brief).collect();
    Ok(json_reply(StatusCode::OK, json!({ "nests": nests }).to_string()))
}

/// What the list says of one endpoint.
fn brief(info: &EndpointInfo) -> Value {
    let endpoint = &info.endpoint;
    let dataset = info.cursor.datasets.iter().find(|dataset| dataset.id == endpoint.dataset);
    let status = match dataset.map(|dataset| &dataset.status) {
        None => "missing",
        Some(_) if info.cursor.halted.is_some() => "halted",
        Some(DatasetStatus::Quarantined(_)) => "quarantined",
        Some(DatasetStatus::Active) => "active",
    };
    json!({
        "name": endpoint.name.as_str(),
        "nest": endpoint.nest.as_str(),
        "version": endpoint.version.to_string(),
        "bundle": endpoint.bundle.to_string(),
        "chain_id": info.cursor.chain_id.0,
        "status": status,
        "as_of_block": dataset.and_then(|dataset| dataset.done_to).map(|block| block.number.0),
    })
}

/// `GET /nests/{name}`
pub async fn one(State(app): State<Shared>, Path(name): Path<String>) -> Result<Response, Failure> {
    let Description { meta, tables } = app.engine.describe(&nest(&name)?).await?;
    let tables: Vec<Value> = tables
        .iter()
        .map(|table| {
            let path = format!("/nests/{name}/tables/{}", table.name);
            json!({"name": table.name, "type": kind(table), "doc": table.doc, "rows": table.rows, "path": path})
        })
        .collect();
    let mut body: Value = serde_json::from_str(&meta.to_json()).unwrap_or_default();
    body["name"] = Value::from(name.as_str());
    body["tables"] = Value::from(tables);
    body["sql"] = Value::from(format!("/nests/{name}/sql"));
    Ok(json_reply(StatusCode::OK, body.to_string()))
}

/// `GET /nests/{name}/tables`
pub async fn tables(State(app): State<Shared>, Path(name): Path<String>) -> Result<Response, Failure> {
    let Description { meta, tables } = app.engine.describe(&nest(&name)?).await?;
    let tables: Vec<Value> = tables.iter().map(full).collect();
    let meta: Value = serde_json::from_str(&meta.to_json()).unwrap_or_default();
    Ok(json_reply(StatusCode::OK, json!({"tables": tables, "meta": meta}).to_string()))
}

fn kind(table: &TableInfo) -> &'static str {
    match table.kind {
        TableKind::Table => "table",
        TableKind::View => "view",
    }
}

fn full(table: &TableInfo) -> Value {
    let columns = table
        .columns
        .iter()
        .map(|column| json!({"name": column.name, "type": column.ty, "nullable": column.nullable, "doc": column.doc}));
    let mut value = json!({
        "name": table.name,
        "type": kind(table),
        "doc": table.doc,
        "rows": table.rows,
        "columns": columns.collect::<Vec<_>>(),
    });
    if let Some(broken) = &table.broken {
        value["broken"] = Value::from(broken.as_str());
    }
    value
}
