//! Log lines on stderr: as text or JSON, above the progress bars where there are any.

use std::io::{self, Write};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::progress;

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Each line goes out whole, with the bars lifted while it does.
struct AboveBars;

struct Line(Vec<u8>);

impl<'a> MakeWriter<'a> for AboveBars {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(Vec::with_capacity(256))
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // A log line that cannot be written has nowhere to complain to.
        progress::above_bars(|| {
            let _ = io::stderr().lock().write_all(&self.0);
        });
    }
}

/// Starts logging. RUST_LOG chooses what is logged; without it, `info` of nuthatch and `warn` of the rest.
pub(super) fn start(format: LogFormat) {
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => match EnvFilter::try_new(&directives) {
            Ok(filter) => filter,
            Err(error) => {
                let _ = writeln!(io::stderr(), "warning: RUST_LOG '{directives}' is not understood ({error}); ignored");
                EnvFilter::new(DEFAULT)
            }
        },
        _ => EnvFilter::new(DEFAULT),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(AboveBars);
    let started = match format {
        LogFormat::Text => lines
            .with_target(false)
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none())
            .try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    // Set already only where a test runs commands in its own process.
    drop(started);
}

const DEFAULT: &str = "warn,nuthatch=info";
