//! `nuthatch sql`: ask a running `dev`, or a data folder.

mod answer;
mod local;
mod refusal;
mod remote;
mod render;
mod repl;
mod statements;

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nuthatch_registry::NestName;
use url::Url;

use super::Output;
use answer::JsonAnswer;
use local::Local;
use remote::Remote;
use statements::Statements;

/// Ask SQL of a running nuthatch, or of a data folder
///
/// Without a query it is a prompt with history; where stdin is no terminal, statements are read from it. Integers of
/// any width are exact.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  nuthatch sql 'SELECT count(*) FROM usdc__transfer'
  nuthatch sql \"SELECT * FROM usdc__transfer WHERE from_ = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' LIMIT 5\"
  nuthatch sql --dir usdc --format csv 'SELECT * FROM events_by_day' > days.csv
      Reads the data folder; nothing has to run.
  nuthatch sql < queries.sql")]
pub struct SqlArgs {
    /// One or more statements, separated by semicolons
    query: Option<String>,
    /// A running nuthatch
    #[arg(long, env = "NUTHATCH_URL", default_value = "http://127.0.0.1:8288", conflicts_with = "dir")]
    url: Url,
    /// Nest folder (or data folder) to read instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Where the folder's segments are [default: `segments` in the data folder]
    #[arg(long, value_name = "PLACE", requires = "dir")]
    segments: Option<String>,
    /// Nest to ask, where there are several
    #[arg(long, value_name = "NAME")]
    nest: Option<NestName>,
    /// How answers are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// As the HTTP API answers
    Json,
    /// With a line of names
    Csv,
}

/// Whom to ask, and how to print.
pub struct Session {
    backend: Backend,
    format: Format,
}

enum Backend {
    Remote(Remote),
    Local(Local),
}

impl Session {
    async fn open(args: &SqlArgs) -> anyhow::Result<Self> {
        let backend = match &args.dir {
            None => Backend::Remote(Remote::connect(args.url.clone(), args.nest.clone()).await?),
            Some(dir) => Backend::Local(Local::open(dir, args.nest.clone(), args.segments.as_deref()).await?),
        };
        Ok(Session { backend, format: args.format })
    }

    /// Asks and prints.
    pub async fn answer(&self, sql: &str, output: &mut Output) -> anyhow::Result<()> {
        let mut text = match (&self.backend, self.format) {
            (Backend::Remote(remote), Format::Csv) => remote.text(sql, "text/csv").await?,
            (Backend::Remote(remote), _) => remote.text(sql, "application/json").await?,
            (Backend::Local(local), Format::Csv) => local.query(sql).await?.to_csv(),
            (Backend::Local(local), _) => local.query(sql).await?.to_json(),
        };
        if self.format == Format::Table {
            let answer: JsonAnswer = serde_json::from_str(&text)
                .map_err(|error| anyhow::anyhow!("{} did not answer as nuthatch does ({error})", self.place()))?;
            text = render::table(&answer);
        }
        output.text(&text)?;
        if !text.ends_with('\n') {
            output.text("\n")?;
        }
        output.flush()
    }

    /// Who answers, for people.
    pub fn place(&self) -> String {
        match &self.backend {
            Backend::Remote(remote) => format!("nest '{}' at {}", remote.nest(), remote.base()),
            Backend::Local(local) => format!("nest '{}' in {}", local.nest(), local.folder().display()),
        }
    }

    /// What stands before the cursor.
    pub fn prompt(&self) -> &str {
        match &self.backend {
            Backend::Remote(remote) => remote.nest().as_str(),
            Backend::Local(local) => local.nest().as_str(),
        }
    }
}

pub(super) async fn run(args: SqlArgs) -> anyhow::Result<()> {
    let session = Session::open(&args).await?;
    let mut output = Output::new();
    let mut statements = Statements::default();
    if let Some(query) = &args.query {
        for sql in statements.push(query).into_iter().chain(statements.finish()) {
            session.answer(&sql, &mut output).await?;
        }
        return output.finish();
    }
    if std::io::stdin().is_terminal() {
        drop(output);
        return repl::run(&session).await;
    }
    let mut line = String::new();
    // Answered as they come, so that a slow writer sees its answers.
    while tokio::task::block_in_place(|| std::io::stdin().lock().read_line(&mut line))? > 0 {
        for sql in statements.push(&line) {
            session.answer(&sql, &mut output).await?;
        }
        line.clear();
    }
    if let Some(sql) = statements.finish() {
        session.answer(&sql, &mut output).await?;
    }
    output.finish()
}

/// The JSON form of an answer as a table for a terminal.
pub(super) fn table_of(json: &str) -> anyhow::Result<String> {
    Ok(render::table(&serde_json::from_str(json)?))
}
