//! DataFusion's errors as answers to people.

use datafusion::common::{Column, DataFusionError, SchemaError};
use datafusion::sql::sqlparser::parser::ParserError;
use parquet::errors::ParquetError;

use super::error::{BadQuery, Flaw, Position, QueryError};
use super::guard::Tokens;
use super::limits::QueryLimits;
use super::names::nearest;
use super::sealed::BadSegment;
use super::source::SourceError;

/// What ended a try of a query.
#[derive(Debug)]
pub enum Ended {
    /// A chunk left the store: worth one more try with a new snapshot.
    Gone(String),
    /// An error for the reader.
    Failed(QueryError),
}

/// Sorts an error of planning or running.
pub fn classify(error: DataFusionError, tokens: &Tokens, limits: &QueryLimits) -> Ended {
    let place = span(&error);
    let mut bad = match peel(error) {
        Peeled::Ended(ended) => return ended,
        Peeled::Bad(bad) => bad,
        Peeled::OutOfMemory => {
            return Ended::Failed(QueryError::OutOfMemory { pool: limits.memory as u64 >> 20 });
        }
        Peeled::Other(error) => match plain(&error) {
            Ok(bad) => bad,
            Err(internal) => return Ended::Failed(QueryError::Internal(internal)),
        },
    };
    if bad.position.is_none() {
        bad.position = place.or_else(|| quoted(&bad.message).and_then(|name| tokens.find(name)));
    }
    Ended::Failed(QueryError::Bad(bad))
}

/// The message of an error, without what DataFusion puts around it.
pub fn bare_message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => bare_message(inner),
        DataFusionError::Shared(inner) => bare_message(inner),
        DataFusionError::Collection(all) => all.first().map_or_else(|| error.to_string(), bare_message),
        other => match plain(other) {
            Ok(bad) => bad.to_string(),
            Err(internal) => internal,
        },
    }
}

enum Peeled {
    Ended(Ended),
    Bad(BadQuery),
    OutOfMemory,
    Other(DataFusionError),
}

fn peel(error: DataFusionError) -> Peeled {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => peel(*inner),
        DataFusionError::Collection(mut all) if !all.is_empty() => peel(all.swap_remove(0)),
        DataFusionError::Shared(inner) => peel_shared(&inner),
        DataFusionError::ResourcesExhausted(_) => Peeled::OutOfMemory,
        DataFusionError::ArrowError(inner, context) => match *inner {
            arrow::error::ArrowError::ExternalError(inner) => match inner.downcast::<DataFusionError>() {
                Ok(inner) => peel(*inner),
                Err(inner) => external(inner),
            },
            inner => Peeled::Other(DataFusionError::ArrowError(Box::new(inner), context)),
        },
        DataFusionError::External(inner) => match inner.downcast::<DataFusionError>() {
            Ok(inner) => peel(*inner),
            Err(inner) => external(inner),
        },
        DataFusionError::ParquetError(inner) => match *inner {
            ParquetError::External(inner) => external(inner),
            inner => Peeled::Other(DataFusionError::ParquetError(Box::new(inner))),
        },
        other => Peeled::Other(other),
    }
}

/// An error that several parts of a plan hold: it can be looked at, not taken apart.
fn peel_shared(error: &DataFusionError) -> Peeled {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => Peeled::OutOfMemory,
        DataFusionError::External(inner) => {
            if let Some(gone @ (SourceError::Gone(_) | SourceError::SegmentGone(_))) = inner.downcast_ref() {
                return Peeled::Ended(Ended::Gone(gone.to_string()));
            }
            if let Some(bad) = inner.downcast_ref::<BadSegment>() {
                return Peeled::Ended(Ended::Failed(QueryError::Segment(bad.clone())));
            }
            match inner.downcast_ref::<BadQuery>() {
                Some(bad) => Peeled::Bad(bad.clone()),
                None => Peeled::Ended(Ended::Failed(QueryError::Internal(inner.to_string()))),
            }
        }
        root => match plain(root) {
            Ok(bad) => Peeled::Bad(bad),
            Err(internal) => Peeled::Ended(Ended::Failed(QueryError::Internal(internal))),
        },
    }
}

fn external(error: Box<dyn std::error::Error + Send + Sync>) -> Peeled {
    let error = match error.downcast::<BadQuery>() {
        Ok(bad) => return Peeled::Bad(*bad),
        Err(error) => error,
    };
    let error = match error.downcast::<BadSegment>() {
        Ok(bad) => return Peeled::Ended(Ended::Failed(QueryError::Segment(*bad))),
        Err(error) => error,
    };
    Peeled::Ended(match error.downcast::<SourceError>() {
        Ok(source) => match *source {
            SourceError::Gone(_) | SourceError::SegmentGone(_) => Ended::Gone(source.to_string()),
            SourceError::Store(error) => Ended::Failed(QueryError::Store(error)),
            SourceError::Decode { .. } => Ended::Failed(QueryError::Internal(source.to_string())),
        },
        Err(error) => Ended::Failed(QueryError::Internal(error.to_string())),
    })
}

/// An error of DataFusion's own: the statement's fault, or (as `Err`) nuthatch's.
fn plain(error: &DataFusionError) -> Result<BadQuery, String> {
    match error {
        DataFusionError::SchemaError(inner, _) => Ok(schema(inner)),
        DataFusionError::SQL(inner, _) => match inner.as_ref() {
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
                Ok(BadQuery::new(Flaw::Syntax, format!("syntax error: {text}")))
            }
            ParserError::RecursionLimitExceeded => Ok(BadQuery::new(Flaw::NotAllowed, "the statement nests too deep")),
        },
        DataFusionError::Plan(text) | DataFusionError::Configuration(text) => Ok(planned(text)),
        DataFusionError::NotImplemented(text) => {
            Ok(BadQuery::new(Flaw::NotAllowed, format!("this SQL is not supported: {text}")))
        }
        DataFusionError::Execution(text) => Ok(BadQuery::new(Flaw::Data, text.clone())),
        DataFusionError::ArrowError(inner, _) => Ok(BadQuery::new(Flaw::Data, inner.to_string())),
        other => Err(other.strip_backtrace()),
    }
}

fn planned(text: &str) -> BadQuery {
    let bad = BadQuery::new(Flaw::Meaning, nest_types(text));
    match text.strip_prefix("Invalid function '").and_then(|rest| rest.split_once('\'')) {
        Some((name, _)) => {
            let near = text.split_once("Did you mean '").and_then(|(_, rest)| rest.split_once('\''));
            let bad = BadQuery::new(Flaw::UnknownName, format!("there is no function '{name}'"));
            match near {
                Some((near, _)) => bad.hint(format!("did you mean {near}?")),
                None => bad,
            }
        }
        None => bad,
    }
}

/// Arrow's type names in a message as readers know them.
fn nest_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("FixedSizeBinary(") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = &after["FixedSizeBinary(".len()..];
        let Some((width, after)) = after.split_once(')') else { break };
        match width {
            "20" => out.push_str("address"),
            width => out.extend(["bytes", width]),
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace("LargeBinary", "integer")
        .replace("Utf8View", "string")
        .replace("Utf8", "string")
        .replace("Binary", "bytes")
}

fn schema(error: &SchemaError) -> BadQuery {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => unknown_column(field, valid_fields),
        SchemaError::AmbiguousReference { field } => {
            BadQuery::new(Flaw::UnknownName, format!("'{}' is in more than one of the tables", field.name))
                .hint("write the table's name or alias and a dot in front of it")
        }
        other => BadQuery::new(Flaw::Meaning, other.to_string()).hint("give one of them another name with AS"),
    }
}

fn unknown_column(field: &Column, valid: &[Column]) -> BadQuery {
    let bad = match &field.relation {
        Some(relation) => format!("there is no column '{}' in '{relation}'", field.name),
        None => format!("there is no column '{}'", field.name),
    };
    let bad = BadQuery::new(Flaw::UnknownName, bad);
    let names: Vec<&str> = valid.iter().map(|column| column.name.as_str()).collect();
    let reserved = format!("{}_", field.name);
    if names.contains(&reserved.as_str()) {
        return bad.hint(format!("the column is called {reserved}"));
    }
    if let Some(near) = nearest(&field.name, names.iter().copied()) {
        return bad.hint(format!("did you mean {near}?"));
    }
    if names.is_empty() {
        return bad;
    }
    let shown: Vec<_> = names.iter().copied().take(20).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    bad.hint(format!("there are {}{more}", shown.join(", ")))
}

/// Where DataFusion says that it is.
fn span(error: &DataFusionError) -> Option<Position> {
    let start = error.diagnostic()?.span?.start;
    Some(Position { line: start.line, column: start.column })
}

/// The first thing that a message puts in quotes: usually the name it is about.
fn quoted(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once('\'')?;
    rest.split_once('\'').map(|(name, _)| name)
}
