//! SQL against answers that Python's integers gave: `tests/golden/wide_integers.py` says how each came about.

use std::path::Path;

use serde::Deserialize;

use super::harness::{Column, add_table, context, run};

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Table { table: String, columns: Vec<GoldenColumn> },
    Rows { sql: String, rows: Vec<Vec<Option<String>>> },
    Fails { sql: String, error: Vec<String> },
}

#[derive(Deserialize)]
struct GoldenColumn {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    cells: Vec<Option<String>>,
}

#[tokio::test]
async fn sql_over_integers_answers_what_python_computed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/wide_integers.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let context = context();
    let (mut asked, mut wrong) = (0, Vec::new());
    for line in text.lines() {
        match serde_json::from_str(line).unwrap() {
            Line::Table { table, columns } => {
                let columns: Vec<Column> = columns
                    .into_iter()
                    .map(|column| Column { name: column.name, ty: column.ty, cells: column.cells })
                    .collect();
                add_table(&context, &table, &columns);
            }
            Line::Rows { sql, rows } => {
                asked += 1;
                let found = run(&context, &sql).await;
                if found.as_ref() != Ok(&rows) {
                    wrong.push(format!("{sql}\n  expected {rows:?}\n  found    {found:?}"));
                }
            }
            Line::Fails { sql, error } => {
                asked += 1;
                let found = run(&context, &sql).await;
                let told = found.as_ref().is_err_and(|message| error.iter().all(|part| message.contains(part)));
                if !told {
                    wrong.push(format!("{sql}\n  expected an error with {error:?}\n  found {found:?}"));
                }
            }
        }
    }
    assert!(asked >= 120, "only {asked} queries in the golden file");
    assert!(wrong.is_empty(), "{} of {asked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
