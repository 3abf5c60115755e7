//! `information_schema`: the tables, views and columns of one endpoint, with the authors' words.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;

use super::answer::type_name;
use super::classify::bare_message;
use super::planner::{self, Planner};
use super::status;
use super::tables::{STATUS, query_type};
use crate::model::{ColumnType, TYPE_KEY};

/// Its name.
pub const SCHEMA: &str = "information_schema";

/// One of its tables; none where it has none of that name.
pub fn table(planner: &Planner<'_>, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    match name {
        "tables" => tables(planner).map(Some),
        "columns" => columns(planner).map(Some),
        _ => Ok(None),
    }
}

const STATUS_DOC: &str = "how far the rows reach, in one row";

const TABLES: [&str; 5] = ["table_catalog", "table_schema", "table_name", "table_type", "comment"];
const COLUMNS: [&str; 8] = [
    "table_catalog",
    "table_schema",
    "table_name",
    "column_name",
    "ordinal_position",
    "data_type",
    "is_nullable",
    "comment",
];
const ORDINAL: usize = 4;

fn tables(planner: &Planner<'_>) -> Result<Arc<dyn TableProvider>> {
    let catalog = planner.catalog;
    let events = catalog.tables.iter().map(|table| (planner::SCHEMA, &*table.name, "BASE TABLE", &*table.doc));
    let views = catalog.views.iter().map(|view| (planner::SCHEMA, &*view.name, "VIEW", &*view.doc));
    let status = (planner::SCHEMA, STATUS, "BASE TABLE", STATUS_DOC);
    let own = ["tables", "columns"].map(|name| (SCHEMA, name, "VIEW", ""));
    let rows: Vec<_> = events.chain([status]).chain(views).chain(own).collect();
    let text = |pick: fn(&(&'static str, &str, &'static str, &str)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(pick)))
    };
    let catalogs = Arc::new(StringArray::from(vec![planner.snapshot.endpoint.name.as_str(); rows.len()]));
    provide(
        TABLES.map(|name| (name, ColumnType::String)).to_vec(),
        vec![
            catalogs,
            text(|row| row.0.to_owned()),
            text(|row| row.1.to_owned()),
            text(|row| row.2.to_owned()),
            text(|row| row.3.to_owned()),
        ],
    )
}

/// A table or view as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// SQL name.
    pub name: String,
    /// Table or view.
    pub kind: TableKind,
    /// One line for people, by the author.
    pub doc: String,
    /// Rows, where that is known without reading.
    pub rows: Option<u64>,
    /// Columns in order; none of a broken view.
    pub columns: Vec<ColumnInfo>,
    /// Why a view cannot be queried.
    pub broken: Option<String>,
}

/// What kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Rows of its own.
    Table,
    /// A SELECT over others.
    View,
}

/// A column as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// SQL name.
    pub name: String,
    /// Nest type.
    pub ty: String,
    /// Whether a value may be NULL.
    pub nullable: bool,
    /// One line for people, by the author.
    pub doc: String,
}

/// All tables and views of an endpoint.
pub fn describe(planner: &Planner<'_>) -> Vec<TableInfo> {
    let mut all = Vec::new();
    for table in &planner.catalog.tables {
        let columns = table.schema.fields().iter().zip(&table.columns).map(|(field, (ty, doc))| ColumnInfo {
            name: field.name().clone(),
            ty: ty.to_string(),
            nullable: field.is_nullable(),
            doc: doc.clone(),
        });
        all.push(TableInfo {
            name: table.name.clone(),
            kind: TableKind::Table,
            doc: table.doc.clone(),
            rows: Some(planner.snapshot.rows(table.id)),
            columns: columns.collect(),
            broken: None,
        });
    }
    let status = status::COLUMNS.iter().map(|&(name, ty, doc)| ColumnInfo {
        name: name.to_owned(),
        ty: ty.to_string(),
        nullable: true,
        doc: doc.to_owned(),
    });
    all.push(TableInfo {
        name: STATUS.to_owned(),
        kind: TableKind::Table,
        doc: STATUS_DOC.to_owned(),
        rows: Some(1),
        columns: status.collect(),
        broken: None,
    });
    for (place, view) in planner.catalog.views.iter().enumerate() {
        let (columns, broken) = match planner.plan_view(place) {
            Ok(plan) => (plan.schema().fields().iter().map(|field| view_column(field)).collect(), None),
            Err(error) => (Vec::new(), Some(bare_message(&error))),
        };
        let (name, doc) = (view.name.clone(), view.doc.clone());
        all.push(TableInfo { name, kind: TableKind::View, doc, rows: None, columns, broken });
    }
    all
}

fn view_column(field: &Field) -> ColumnInfo {
    let (name, nullable) = (field.name().clone(), field.is_nullable());
    ColumnInfo { name, ty: type_name(field), nullable, doc: String::new() }
}

/// One row of `information_schema.columns`.
struct Listed {
    schema: &'static str,
    table: String,
    ordinal: u64,
    column: ColumnInfo,
}

fn listed(planner: &Planner<'_>) -> Vec<Listed> {
    let mut all = Vec::new();
    for TableInfo { name, columns, .. } in describe(planner) {
        let numbered = columns.into_iter().zip(1..);
        all.extend(numbered.map(|(column, ordinal)| Listed {
            schema: planner::SCHEMA,
            table: name.clone(),
            ordinal,
            column,
        }));
    }
    for (table, columns) in [("tables", &TABLES[..]), ("columns", &COLUMNS[..])] {
        for (place, &name) in columns.iter().enumerate() {
            let ty = if name == COLUMNS[ORDINAL] { "uint64" } else { "string" };
            let column = ColumnInfo { name: name.to_owned(), ty: ty.to_owned(), nullable: false, doc: String::new() };
            all.push(Listed { schema: SCHEMA, table: table.to_owned(), ordinal: place as u64 + 1, column });
        }
    }
    all
}

fn columns(planner: &Planner<'_>) -> Result<Arc<dyn TableProvider>> {
    let rows = listed(planner);
    let text =
        |pick: fn(&Listed) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(pick))) };
    let same = |value: &str| -> ArrayRef { Arc::new(StringArray::from(vec![value; rows.len()])) };
    let mut columns: Vec<_> = COLUMNS.map(|name| (name, ColumnType::String)).to_vec();
    columns[ORDINAL].1 = ColumnType::Uint(64);
    provide(
        columns,
        vec![
            same(planner.snapshot.endpoint.name.as_str()),
            text(|row| row.schema),
            text(|row| &row.table),
            text(|row| &row.column.name),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.ordinal))),
            text(|row| &row.column.ty),
            text(|row| if row.column.nullable { "YES" } else { "NO" }),
            text(|row| &row.column.doc),
        ],
    )
}

fn provide(columns: Vec<(&str, ColumnType)>, values: Vec<ArrayRef>) -> Result<Arc<dyn TableProvider>> {
    let fields = columns.into_iter().map(|(name, ty)| {
        Field::new(name, query_type(ty), false).with_metadata([(TYPE_KEY.to_owned(), ty.to_string())].into())
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    Ok(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?))
}
