//! Printing to stdout that survives a reader which leaves early.

use std::io::{self, BufWriter, Stdout, Write};

use super::failure::PipeClosed;

/// Stdout for what a command answers. Buffered; [`Output::finish`] writes the rest.
pub struct Output(BufWriter<Stdout>);

impl Output {
    /// Opens stdout.
    pub fn new() -> Self {
        Output(BufWriter::new(io::stdout()))
    }

    /// Prints text as it is.
    pub fn text(&mut self, text: &str) -> anyhow::Result<()> {
        written(self.0.write_all(text.as_bytes()))
    }

    /// Prints a line.
    pub fn line(&mut self, line: impl AsRef<str>) -> anyhow::Result<()> {
        self.text(line.as_ref())?;
        self.text("\n")
    }

    /// Lets another writer print; its own errors come back as they are.
    pub fn with<E: Into<anyhow::Error>>(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> anyhow::Result<()> {
        let mut watched = Watched { inner: &mut self.0, closed: false };
        let wrote = write(&mut watched);
        if watched.closed {
            return Err(PipeClosed.into());
        }
        wrote.map_err(Into::into)
    }

    /// Writes out what is buffered, and goes on.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        written(self.0.flush())
    }

    /// Writes out what is buffered.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()
    }
}

impl Default for Output {
    fn default() -> Self {
        Output::new()
    }
}

fn written(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(PipeClosed.into()),
        other => other.map_err(|error| anyhow::Error::new(error).context("stdout cannot be written")),
    }
}

/// Remembers that the pipe broke, whatever the writer above makes of the error.
struct Watched<'a> {
    inner: &'a mut BufWriter<Stdout>,
    closed: bool,
}

impl Watched<'_> {
    fn seen<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if matches!(&result, Err(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            self.closed = true;
        }
        result
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wrote = self.inner.write(bytes);
        self.seen(wrote)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.seen(flushed)
    }
}
