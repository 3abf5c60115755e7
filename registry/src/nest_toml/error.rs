//! Errors of `nest.toml`, with their place in it.

use std::ops::Range;

use super::MAX_NEST_TOML_BYTES;

/// A `nest.toml` that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NestTomlError {
    /// Something at one place.
    #[error("{file}:{line}:{column}: {problem}")]
    At {
        /// File as named by the caller.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// A file that is no `nest.toml` by its size.
    #[error("{file}: the file has {bytes} bytes, more than the {MAX_NEST_TOML_BYTES} allowed; is this a nest.toml?")]
    TooLarge {
        /// File as named by the caller.
        file: String,
        /// Its size.
        bytes: usize,
    },
}

/// A text with its name, to make errors of.
pub(super) struct Place<'a> {
    pub text: &'a str,
    pub file: &'a str,
}

impl Place<'_> {
    pub fn error(&self, span: Range<usize>, problem: impl Into<String>) -> NestTomlError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        NestTomlError::At {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: problem.into(),
        }
    }

    pub fn toml(&self, error: toml::de::Error) -> NestTomlError {
        let problem = one_line(error.message());
        let help = match problem.as_str() {
            p if p.starts_with("missing field `nest`") => "; begin the file with [nest], name, version and chain",
            p if p.starts_with("missing field `address`") => "; write address = \"0x…\", or a list of addresses",
            p if p.starts_with("missing field `chain`") => "; write chain = \"mainnet\" or chain = \"eip155:<id>\"",
            p if p.starts_with("missing field `version`") => "; write version = \"0.1.0\"",
            p if p.starts_with("duplicate key") => {
                "; write [[views]], [[contracts]] and [[secrets]] once for each, any other key only once"
            }
            p if p.starts_with("missing field") => "; add it to this table",
            p if p.starts_with("unknown field") => "; correct or remove it",
            p if p.starts_with("invalid type") => "; write a value of that type",
            _ => "",
        };
        self.error(error.span().unwrap_or(0..0), format!("{problem}{help}"))
    }
}

/// The parser repeats what stands in the file: control characters in it must not reach a terminal.
fn one_line(message: &str) -> String {
    let mut line = String::new();
    for c in message.trim().chars() {
        match c {
            '\n' => line.push_str("; "),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}
