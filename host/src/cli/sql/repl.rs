//! The prompt: lines with history, statements that end with a semicolon, and a few commands of its own.

use std::path::PathBuf;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::Session;
use super::statements::Statements;
use crate::cli::{Output, failure};

const HELP: &str = "\
A statement ends with a semicolon and may span lines.
  \\d         tables and views
  \\d NAME    columns of one
  \\?         this help
  \\q         leave (or Ctrl-D)
Ctrl-C forgets the line, or ends the query that runs.";

/// Reads and answers until the reader leaves.
pub async fn run(session: &Session) -> anyhow::Result<()> {
    let mut editor = DefaultEditor::new()?;
    let history = history_file();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    let ended = converse(session, &mut editor).await;
    if let Some(path) = &history
        && let Err(error) = save(&mut editor, path)
    {
        tracing::warn!("the history cannot be written to {}: {error}", path.display());
    }
    ended
}

async fn converse(session: &Session, editor: &mut DefaultEditor) -> anyhow::Result<()> {
    say(&format!("{}. \\? for help, \\q to leave.", session.place()))?;
    let mut begun = Statements::default();
    loop {
        let prompt = if begun.is_empty() { format!("{}> ", session.prompt()) } else { "   ...> ".to_owned() };
        let line = match tokio::task::block_in_place(|| editor.readline(&prompt)) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                begun.clear();
                continue;
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if !line.trim().is_empty() {
            // A history that is full or refuses a line stops nobody.
            let _ = editor.add_history_entry(&line);
        }
        if begun.is_empty()
            && let Some(command) = line.trim().strip_prefix('\\')
        {
            match meta(command) {
                Meta::Quit => return Ok(()),
                Meta::Help => say(HELP)?,
                Meta::Query(sql) => answer(session, &sql).await?,
                Meta::Unknown => say(&format!("\\{command} is not known; \\? lists what is"))?,
            }
            continue;
        }
        for sql in begun.push(&format!("{line}\n")) {
            answer(session, &sql).await?;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Meta {
    Quit,
    Help,
    Query(String),
    Unknown,
}

fn meta(command: &str) -> Meta {
    let mut words = command.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("q"), None, None) => Meta::Quit,
        (Some("?"), None, None) => Meta::Help,
        (Some("d"), None, None) => Meta::Query("SHOW TABLES".to_owned()),
        (Some("d"), Some(name), None) => Meta::Query(format!("DESCRIBE {}", name.trim_end_matches(';'))),
        _ => Meta::Unknown,
    }
}

/// A query that fails is told and does not end the conversation; a reader that is gone does.
async fn answer(session: &Session, sql: &str) -> anyhow::Result<()> {
    let mut output = Output::new();
    let ended = tokio::select! {
        ended = session.answer(sql, &mut output) => ended,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("the query was ended")),
    };
    match ended {
        Err(error) if !error.is::<crate::cli::PipeClosed>() => output.text(&failure::text(&error))?,
        other => other?,
    }
    output.finish()
}

fn say(text: &str) -> anyhow::Result<()> {
    let mut output = Output::new();
    output.line(text)?;
    output.finish()
}

/// `$XDG_STATE_HOME/nuthatch/sql_history`, by default under `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("nuthatch/sql_history"))
}

fn save(editor: &mut DefaultEditor, path: &std::path::Path) -> rustyline::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    editor.save_history(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslash_commands_are_told_apart() {
        assert_eq!(meta("q"), Meta::Quit);
        assert_eq!(meta("?"), Meta::Help);
        assert_eq!(meta("d"), Meta::Query("SHOW TABLES".to_owned()));
        assert_eq!(meta("d usdc__transfer;"), Meta::Query("DESCRIBE usdc__transfer".to_owned()));
        for unknown in ["", "x", "d a b", "q now"] {
            assert_eq!(meta(unknown), Meta::Unknown, "{unknown}");
        }
    }
}
