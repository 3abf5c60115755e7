//! Each difference as a sentence.

use std::fmt;

use super::{Change, Reason, Refusal};

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Chain { old, new } => write!(
                f,
                "the chain is {new} instead of {old}: a nest stays on its chain, so give it another name for another chain"
            ),
            Refusal::Nest { old, new } => write!(f, "'{new}' is another nest than '{old}', not a version of it"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TableRemoved { table, renamed_to: None } => write!(f, "table '{table}' is gone"),
            Reason::TableRemoved { table, renamed_to: Some(new) } => {
                write!(f, "table '{table}' is gone ('{new}' has the same columns; a renamed table breaks its readers)")
            }
            Reason::ColumnRemoved { table, column, renamed_to: None } => write!(f, "column '{table}.{column}' is gone"),
            Reason::ColumnRemoved { table, column, renamed_to: Some(new) } => write!(
                f,
                "column '{table}.{column}' is gone ('{new}' has the same type; a renamed column breaks its readers)"
            ),
            Reason::ColumnType { table, column, old, new } => {
                write!(f, "column '{table}.{column}' is {new} instead of {old}")
            }
            Reason::ColumnNullable { table, column } => {
                write!(f, "column '{table}.{column}' can be NULL, which it never was")
            }
            Reason::ColumnAddedNotNull { table, column } => {
                write!(f, "column '{table}.{column}' is new and not nullable; only nullable columns may be added")
            }
            Reason::ViewRemoved { view } => write!(f, "view '{view}' is gone"),
            Reason::ContractRemoved { alias } => write!(f, "contract '{alias}' is gone"),
            Reason::ContractAdded { alias } => write!(f, "contract '{alias}' is new"),
            Reason::AddressRemoved { alias, address } => {
                write!(f, "contract '{alias}' no longer has the address {address}")
            }
            Reason::AddressAdded { alias, address } => write!(f, "contract '{alias}' also has the address {address}"),
            Reason::StartBlock { alias, old, new } => {
                write!(f, "contract '{alias}' starts at block {new} instead of {old}")
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::TableAdded { table } => write!(f, "table '{table}' is new"),
            Change::ColumnAdded { table, column } => write!(f, "column '{table}.{column}' is new"),
            Change::ColumnNotNull { table, column } => write!(f, "column '{table}.{column}' is no longer NULL"),
            Change::ColumnsReordered { table } => {
                write!(f, "the columns of table '{table}' stand in another order, which 'SELECT *' and CSV show")
            }
            Change::ViewAdded { view } => write!(f, "view '{view}' is new"),
            Change::ViewChanged { view } => {
                write!(f, "view '{view}' has another text; whether its columns are the same is not seen from here")
            }
            Change::FiltersChanged => f.write_str("the code asks for other logs"),
            Change::CodeChanged => f.write_str("the kind of code, or the interface it was built against, is another"),
            Change::SecretAdded { secret } => write!(f, "secret '{secret}' is new"),
            Change::SecretRemoved { secret } => write!(f, "secret '{secret}' is no longer used"),
        }
    }
}
