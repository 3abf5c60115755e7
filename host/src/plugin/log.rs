//! The guest's one import: bounded diagnostics, never part of a result.

use std::fmt::Write;
use std::sync::Arc;

use super::limits::PluginLimits;

/// How much a line matters, as the guest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// For the nest's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something looks wrong.
    Warn,
    /// The guest is about to fail; a panic's message.
    Error,
}

/// One line of a guest: at most `log_line_bytes`, control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Nest whose guest wrote it.
    pub nest: Arc<str>,
    /// Level.
    pub level: LogLevel,
    /// Text.
    pub text: String,
}

/// Where guests' lines go.
pub trait LogSink: Send + Sync {
    /// Takes one line.
    fn line(&self, line: LogLine);

    /// Told once after a call that wrote more than it may.
    fn dropped(&self, nest: &str, lines: u64);
}

/// Writes lines to `tracing`, target `nuthatch::guest`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink;

impl LogSink for TracingSink {
    fn line(&self, line: LogLine) {
        let LogLine { nest, level, text } = line;
        match level {
            LogLevel::Debug => tracing::debug!(target: "nuthatch::guest", %nest, "{text}"),
            LogLevel::Info => tracing::info!(target: "nuthatch::guest", %nest, "{text}"),
            LogLevel::Warn => tracing::warn!(target: "nuthatch::guest", %nest, "{text}"),
            LogLevel::Error => tracing::error!(target: "nuthatch::guest", %nest, "{text}"),
        }
    }

    fn dropped(&self, nest: &str, lines: u64) {
        tracing::warn!(target: "nuthatch::guest", %nest, lines, "lines over the cap of one call were dropped");
    }
}

/// What one call may still log.
pub(super) struct LogBudget {
    nest: Arc<str>,
    sink: Arc<dyn LogSink>,
    lines: usize,
    bytes: usize,
    line_bytes: usize,
    dropped: u64,
    last_error: Option<String>,
}

impl LogBudget {
    pub(super) fn new(nest: Arc<str>, sink: Arc<dyn LogSink>, limits: &PluginLimits) -> Self {
        LogBudget {
            nest,
            sink,
            lines: limits.log_lines,
            bytes: limits.log_bytes,
            line_bytes: limits.log_line_bytes,
            dropped: 0,
            last_error: None,
        }
    }

    /// Takes a line, or counts it as dropped.
    pub(super) fn write(&mut self, level: LogLevel, message: &str) {
        // A panic's message is kept for the fault even when spam before it has used up the caps.
        let text = escape(message, self.line_bytes);
        if level == LogLevel::Error {
            self.last_error = Some(text.clone());
        }
        if self.lines == 0 || text.len() > self.bytes {
            self.dropped += 1;
            return;
        }
        self.lines -= 1;
        self.bytes -= text.len();
        self.sink.line(LogLine { nest: Arc::clone(&self.nest), level, text });
    }

    /// The last line of level error.
    pub(super) fn last_error(&self) -> Option<String> {
        self.last_error.clone()
    }

    /// Reports what was dropped, and how much that is.
    pub(super) fn finish(&self) -> u64 {
        if self.dropped > 0 {
            self.sink.dropped(&self.nest, self.dropped);
        }
        self.dropped
    }
}

/// At most `cap` bytes of `text`, with control and formatting characters spelled out, so that no line can end another
/// one, colour a terminal or turn its text around.
pub(super) fn escape(text: &str, cap: usize) -> String {
    let mut out = String::with_capacity(text.len().min(cap));
    for c in text.chars() {
        let before = out.len();
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || reorders(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
        if out.len() > cap {
            out.truncate(before);
            break;
        }
    }
    out
}

/// Line separators, and the marks that change the direction of text.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<(Vec<LogLine>, u64)>);

    impl LogSink for Kept {
        fn line(&self, line: LogLine) {
            self.0.lock().unwrap().0.push(line);
        }

        fn dropped(&self, _: &str, lines: u64) {
            self.0.lock().unwrap().1 += lines;
        }
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escape("a\u{1b}[31mred\r\n\0b\u{202e}c", 100), "a\\u{1b}[31mred\\r\\n\\u{0}b\\u{202e}c");
        assert_eq!(escape("grüße", 100), "grüße");
    }

    #[test]
    fn a_line_is_cut_at_a_character() {
        assert_eq!(escape("aü", 2), "a");
        assert_eq!(escape("aü", 3), "aü");
        assert_eq!(escape("ab\n", 3), "ab");
        assert_eq!(escape(&"x".repeat(1 << 20), 1024).len(), 1024);
    }

    #[test]
    fn lines_over_the_cap_are_counted_and_the_last_error_is_kept() {
        let sink = Arc::new(Kept::default());
        let limits = PluginLimits { log_lines: 2, log_bytes: 10, ..PluginLimits::default() };
        let mut budget = LogBudget::new("n".into(), sink.clone(), &limits);
        budget.write(LogLevel::Info, "12345678");
        budget.write(LogLevel::Info, "123");
        budget.write(LogLevel::Info, "12");
        budget.write(LogLevel::Error, "at a.rs:1: boom");
        assert_eq!(budget.finish(), 2);
        let kept = sink.0.lock().unwrap();
        assert_eq!(kept.0.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["12345678", "12"]);
        assert_eq!(kept.1, 2);
        assert_eq!(budget.last_error().unwrap(), "at a.rs:1: boom");
    }
}
