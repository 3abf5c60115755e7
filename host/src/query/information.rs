//! `information_schema`: the tables, views and columns of one endpoint, with the authors' words.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;

use super::answer::type_name;
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
    let views = catalog.views.iter().map(|view| (planner::SCHEMA, &*view.name, "VIEW", ""));
    let status = (planner::SCHEMA, STATUS, "BASE TABLE", "how far the rows reach, in one row");
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

/// One column as people see it.
struct Listed {
    schema: &'static str,
    table: String,
    name: String,
    ordinal: u64,
    ty: String,
    nullable: bool,
    doc: String,
}

fn listed(planner: &Planner<'_>) -> Vec<Listed> {
    let mut all = Vec::new();
    for table in &planner.catalog.tables {
        for ((field, (ty, doc)), ordinal) in table.schema.fields().iter().zip(&table.columns).zip(1..) {
            all.push(Listed {
                schema: planner::SCHEMA,
                table: table.name.clone(),
                name: field.name().clone(),
                ordinal,
                ty: ty.to_string(),
                nullable: field.is_nullable(),
                doc: doc.clone(),
            });
        }
    }
    for ((name, ty, doc), ordinal) in status::COLUMNS.into_iter().zip(1..) {
        all.push(Listed {
            schema: planner::SCHEMA,
            table: STATUS.to_owned(),
            name: name.to_owned(),
            ordinal,
            ty: ty.to_string(),
            nullable: true,
            doc: doc.to_owned(),
        });
    }
    for (place, view) in planner.catalog.views.iter().enumerate() {
        // A broken view has no columns; whoever queries it is told why.
        let Ok(plan) = planner.plan_view(place) else { continue };
        for (field, ordinal) in plan.schema().fields().iter().zip(1..) {
            all.push(Listed {
                schema: planner::SCHEMA,
                table: view.name.clone(),
                name: field.name().clone(),
                ordinal,
                ty: type_name(field),
                nullable: field.is_nullable(),
                doc: String::new(),
            });
        }
    }
    for (table, columns) in [("tables", &TABLES[..]), ("columns", &COLUMNS[..])] {
        for (&name, ordinal) in columns.iter().zip(1..) {
            let ty = if table == "columns" && ordinal == ORDINAL as u64 + 1 { "uint64" } else { "string" };
            all.push(Listed {
                schema: SCHEMA,
                table: table.to_owned(),
                name: name.to_owned(),
                ordinal,
                ty: ty.to_owned(),
                nullable: false,
                doc: String::new(),
            });
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
            text(|row| &row.name),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.ordinal))),
            text(|row| &row.ty),
            text(|row| if row.nullable { "YES" } else { "NO" }),
            text(|row| &row.doc),
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
