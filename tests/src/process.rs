//! Real processes under test: started, asked over HTTP as a user would, ended with real signals.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nuthatch::model::BlockRef;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long a condition may take to come true before a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An HTTP client with this patience.
pub fn client(patience: Duration) -> Result<reqwest::Client> {
    // Fails only where a provider is installed already, which then serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().timeout(patience).build()?)
}

/// What a finished command left.
#[derive(Debug)]
pub struct Finished {
    /// Exit status, −1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs the binary to its end.
pub async fn run(exe: &str, folder: &Path, args: &[&str]) -> Result<Finished> {
    run_with(exe, folder, args, &[]).await
}

/// Runs the binary to its end, with these environment variables.
pub async fn run_with(exe: &str, folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Result<Finished> {
    let mut command = command(exe, folder, args);
    command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = tokio::time::timeout(PATIENCE, command.output()).await.context("the command did not end")??;
    Ok(Finished {
        code: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    })
}

fn command(exe: &str, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(exe);
    command.args(args).current_dir(folder).kill_on_drop(true).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("NUTHATCH_RPC")) {
        command.env_remove(name);
    }
    command
}

/// A running `nuthatch dev`.
pub struct Dev {
    child: Mutex<Child>,
    url: String,
    log: PathBuf,
    http: reqwest::Client,
}

impl Dev {
    /// Starts `dev` with these arguments on a free port and waits until it serves. Its output goes to a file.
    pub async fn start(exe: &str, folder: &Path, args: &[&str]) -> Result<Self> {
        Self::start_with(exe, folder, args, &[]).await
    }

    /// As [`Dev::start`], with environment variables.
    pub async fn start_with(exe: &str, folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Result<Self> {
        let all: Vec<&str> = ["dev", "--listen", "127.0.0.1:0"].iter().chain(args).copied().collect();
        let log = folder.join("dev.log");
        let errors = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let mut command = command(exe, folder, &all);
        command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().context("stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        let serving = async {
            while let Some(line) = lines.next_line().await? {
                if let Some(at) = line.find("http://127.0.0.1:") {
                    return Ok(line[at..].trim().trim_end_matches('/').to_owned());
                }
            }
            bail!("dev ended before it served: {}", std::fs::read_to_string(&log).unwrap_or_default())
        };
        let url = tokio::time::timeout(PATIENCE, serving).await.context("dev never said where it serves")??;
        // Drained, so that the child never blocks on a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Dev { child: Mutex::new(child), url, log, http: client(PATIENCE)? })
    }

    /// Where it serves, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Process id.
    pub fn pid(&self) -> Option<u32> {
        self.child().id()
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_child(self) -> Child {
        self.child.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that it has written to standard error so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until standard error says this; gives all of it.
    pub async fn wait_log(&self, says: impl Fn(&str) -> bool) -> Result<String> {
        let started = Instant::now();
        loop {
            let log = self.log();
            if says(&log) {
                return Ok(log);
            }
            if let Some(end) = self.child().try_wait()? {
                bail!("dev ended with {end}; log: {log}");
            }
            if started.elapsed() > PATIENCE {
                bail!("the log never said it: {log}");
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Status and body of a GET.
    pub async fn get(&self, path: &str) -> Result<(u16, String)> {
        let answer = self.http.get(format!("{}{path}", self.url)).send().await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }

    /// The rows of a query.
    pub async fn sql(&self, nest: &str, query: &str) -> Result<Vec<Value>> {
        let answer = self.answer(nest, query).await?;
        Ok(answer["rows"].as_array().cloned().unwrap_or_default())
    }

    /// The whole answer of a query.
    pub async fn answer(&self, nest: &str, query: &str) -> Result<Value> {
        let url = format!("{}/nests/{nest}/sql", self.url);
        let answer = self.http.post(url).body(query.to_owned()).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if !status.is_success() {
            bail!("{status}: {text}");
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Asks until the answer satisfies the condition.
    pub async fn wait_for(&self, nest: &str, query: &str, done: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let started = Instant::now();
        loop {
            let answer = self.sql(nest, query).await;
            if let Ok(rows) = &answer
                && done(rows)
            {
                return Ok(rows.clone());
            }
            let answer = answer.map_err(|error| format!("{error:#}"));
            // Whoever is gone never gets there.
            if let Some(end) = self.child().try_wait()? {
                bail!("dev ended with {end} before '{query}' got there; last answer: {answer:?}; log: {}", self.log());
            }
            if started.elapsed() > PATIENCE {
                bail!("'{query}' never got there; last answer: {answer:?}; log: {}", self.log());
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Waits until the nest is done to this block.
    pub async fn wait_done_to(&self, nest: &str, block: u64) -> Result<()> {
        let reached = move |rows: &[Value]| rows.first().and_then(|row| number(&row["done_to"])) >= Some(block);
        self.wait_for(nest, "SELECT block_number AS done_to FROM _status", reached).await.map(|_| ())
    }

    /// Waits until the nest's rows reach this very block.
    pub async fn wait_at(&self, nest: &str, block: BlockRef) -> Result<()> {
        let hash = format!("{:#x}", block.hash);
        let there = move |rows: &[Value]| rows.first().is_some_and(|row| row["block_hash"] == hash.as_str());
        self.wait_for(nest, "SELECT block_number, block_hash, status, reason FROM _status", there).await.map(|_| ())
    }

    /// Sends a signal and waits for the end; gives the exit code.
    pub async fn signal(self, signal: rustix::process::Signal) -> Result<i32> {
        let mut child = self.into_child();
        let pid = child.id().and_then(|pid| rustix::process::Pid::from_raw(pid as i32)).context("already gone")?;
        rustix::process::kill_process(pid, signal)?;
        let status = tokio::time::timeout(Duration::from_secs(15), child.wait()).await.context("no end")??;
        Ok(status.code().unwrap_or(-1))
    }

    /// Waits until it ends by itself; gives the exit code and all that it wrote to standard error.
    pub async fn ended(self) -> Result<(i32, String)> {
        let log = self.log.clone();
        let mut child = self.into_child();
        let status = tokio::time::timeout(PATIENCE, child.wait()).await.context("it does not end")??;
        Ok((status.code().unwrap_or(-1), std::fs::read_to_string(log)?))
    }

    /// `kill -9`.
    pub async fn kill(self) -> Result<()> {
        self.into_child().kill().await?;
        Ok(())
    }
}

/// A JSON integer, whether it came as a number or as a decimal string.
pub fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
