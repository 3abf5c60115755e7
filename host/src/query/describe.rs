//! SHOW TABLES, SHOW COLUMNS and DESCRIBE.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::answer::type_name;
use super::planner::SCHEMA;

/// Lists tables and views; `pattern` is a LIKE pattern.
pub fn show_tables(pattern: Option<&str>) -> Result<Statement> {
    let matching = like("table_name", pattern);
    parse(&format!(
        "SELECT table_name, table_type, comment FROM information_schema.tables \
         WHERE table_schema = {}{matching} ORDER BY table_name",
        quote(SCHEMA)
    ))
}

/// Lists the columns of one table; `pattern` is a LIKE pattern.
pub fn show_columns((schema, table): &(String, String), pattern: Option<&str>) -> Result<Statement> {
    let matching = like("column_name", pattern);
    parse(&format!(
        "SELECT column_name, data_type, is_nullable, comment FROM information_schema.columns \
         WHERE table_schema = {} AND table_name = {}{matching} ORDER BY ordinal_position",
        quote(schema),
        quote(table)
    ))
}

fn like(column: &str, pattern: Option<&str>) -> String {
    pattern.map(|pattern| format!(" AND {column} LIKE {}", quote(pattern))).unwrap_or_default()
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn parse(sql: &str) -> Result<Statement> {
    let mut statements = Parser::parse_sql(&GenericDialect {}, sql)?;
    statements.pop().ok_or_else(|| DataFusionError::Internal(format!("no statement in {sql}")))
}

/// The columns of a query as rows.
pub fn columns(of: &Schema) -> Result<(SchemaRef, RecordBatch)> {
    let names = ["column_name", "data_type", "is_nullable"];
    let schema = Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::Utf8, false)).to_vec()));
    let text = |pick: fn(&Field) -> String| {
        Arc::new(StringArray::from_iter_values(of.fields().iter().map(|field| pick(field)))) as _
    };
    let values = vec![
        text(|field| field.name().clone()),
        text(type_name),
        text(|field| if field.is_nullable() { "YES".to_owned() } else { "NO".to_owned() }),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    Ok((schema, batch))
}
