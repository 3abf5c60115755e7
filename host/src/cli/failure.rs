//! How a command ends when it does not end well: what is printed, and the exit code.

use std::error::Error;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;

/// Wrong usage that clap cannot see. Exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Usage {
    /// What is wrong.
    pub message: String,
}

impl Usage {
    /// Wrong usage, as an error.
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Usage { message: message.into() })
    }
}

/// The reader of stdout has what it wanted and is gone, as `head` does. No failure.
#[derive(Debug, thiserror::Error)]
#[error("stdout was closed")]
pub struct PipeClosed;

/// An error with what to do about it, printed as `hint: …`.
#[derive(Debug)]
pub struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl Hinted {
    /// Adds a hint to an error.
    pub fn error(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Hinted { error: error.into(), hint: hint.into() })
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Hinted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

fn find<E: Error + 'static>(error: &anyhow::Error) -> Option<&E> {
    error.chain().find_map(|link| link.downcast_ref::<E>())
}

/// The error with its causes and its hint, without a backtrace. A cause that the line before already tells is left
/// out.
pub fn text(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error}\n");
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(|cause| cause.to_string()) {
        if !said.contains(&cause) {
            text.push_str(&format!("  because: {cause}\n"));
            said = cause;
        }
    }
    if let Some(hinted) = find::<Hinted>(error) {
        text.push_str(&format!("hint: {}\n", hinted.hint));
    }
    text
}

/// Prints the error and gives the exit code.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    if find::<PipeClosed>(error).is_some() {
        return ExitCode::SUCCESS;
    }
    // Nobody is left to tell when stderr is gone as well.
    let _ = std::io::stderr().lock().write_all(text(error).as_bytes());
    match find::<Usage>(error) {
        Some(_) => ExitCode::from(2),
        None => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn an_error_is_printed_with_causes_and_hint_and_nothing_twice() {
        let io = std::io::Error::other("no such device");
        let error = anyhow::Error::new(io).context("abis/a.json cannot be read").context("the nest cannot be built");
        assert_eq!(
            text(&Hinted::error(error, "check the path")),
            "error: the nest cannot be built\n  because: abis/a.json cannot be read\n  because: no such device\n\
             hint: check the path\n"
        );
        let repeated: anyhow::Result<()> = Err(std::io::Error::other("disk full")).context("cannot write: disk full");
        assert_eq!(text(&repeated.expect_err("an error")), "error: cannot write: disk full\n");
    }

    #[test]
    fn the_exit_code_is_found_below_any_context() {
        let code = |error: anyhow::Error| format!("{:?}", report(&error));
        assert_eq!(code(Usage::error("x").context("y")), format!("{:?}", ExitCode::from(2)));
        assert_eq!(code(anyhow::Error::new(PipeClosed).context("y")), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code(Hinted::error(anyhow::anyhow!("x"), "z")), format!("{:?}", ExitCode::FAILURE));
    }
}
