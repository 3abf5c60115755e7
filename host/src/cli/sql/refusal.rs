//! A statement that was refused, told alike whoever refused it.

use serde::Deserialize;

use crate::cli::Hinted;
use crate::query::QueryError;

/// The body of an error answer: `{"error":{"code","message","position","hint"}}`.
#[derive(Deserialize)]
pub struct ErrorAnswer {
    error: Refusal,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
    position: Option<Place>,
    hint: Option<String>,
}

#[derive(Deserialize)]
struct Place {
    line: u64,
    column: u64,
}

impl From<ErrorAnswer> for anyhow::Error {
    fn from(answer: ErrorAnswer) -> Self {
        answer.error.told()
    }
}

impl Refusal {
    fn told(self) -> anyhow::Error {
        let message = match self.position {
            Some(Place { line, column }) => format!("{} (line {line}, column {column})", self.message),
            None => self.message,
        };
        match self.hint {
            Some(hint) => Hinted::error(anyhow::anyhow!(message), hint),
            None => anyhow::anyhow!(message),
        }
    }
}

/// An error of the engine in this process.
pub fn of_engine(error: QueryError) -> anyhow::Error {
    match error {
        QueryError::Bad(bad) => {
            let position = bad.position.map(|at| Place { line: at.line, column: at.column });
            Refusal { message: bad.message, position, hint: bad.hint }.told()
        }
        other => other.into(),
    }
}
