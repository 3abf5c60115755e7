//! Progress of the cursors: bars on a terminal, log lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;

use crate::model::{ChainId, ChainProgress, Phase, Progress};

/// Log lines are this far apart while a chain's phase stays the same.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Lines of a chain that is at the head and quiet are this far apart.
const QUIET_LINE_EVERY: Duration = Duration::from_secs(60);

static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Runs `print` with the bars out of the way.
pub(super) fn above_bars(print: impl FnOnce()) {
    BARS.suspend(print);
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporting {
    /// Bars on stderr.
    Bars,
    /// Log lines.
    Lines,
}

impl Reporting {
    /// Bars where stderr is a terminal, lines elsewhere.
    pub fn for_stderr() -> Self {
        if std::io::stderr().is_terminal() { Reporting::Bars } else { Reporting::Lines }
    }
}

/// Shows what comes through the channel until its sender is gone.
pub async fn report(mut progress: watch::Receiver<Progress>, reporting: Reporting) {
    let mut bars = (reporting == Reporting::Bars).then(Bars::default);
    let mut lines = Lines::default();
    loop {
        let chains = progress.borrow_and_update().chains.clone();
        for chain in &chains {
            match &mut bars {
                Some(bars) => bars.show(chain),
                None => lines.show(chain, Instant::now()),
            }
        }
        let next = tokio::time::timeout(LINE_EVERY, progress.changed()).await;
        if matches!(next, Ok(Err(_))) {
            break;
        }
    }
    if let Some(bars) = bars {
        bars.clear();
    }
}

/// How long the rest takes at the rate of late.
fn eta(chain: &ChainProgress) -> Option<Duration> {
    let behind = chain.blocks_behind()? as f64;
    let rate = chain.blocks_per_second.filter(|rate| *rate > 0.001)?;
    Duration::try_from_secs_f64(behind / rate).ok()
}

fn phase(phase: &Phase) -> &'static str {
    match phase {
        Phase::Starting => "starting",
        Phase::Backfill => "backfill",
        Phase::Tip => "at the head",
        Phase::Waiting(_) => "waiting",
        Phase::Halted(_) => "HALTED",
        Phase::Draining => "ending",
    }
}

fn reason(phase: &Phase) -> Option<&str> {
    match phase {
        Phase::Waiting(reason) | Phase::Halted(reason) => Some(reason),
        _ => None,
    }
}

/// `1d 3h`, `4m 10s`, `12s`: two units at most.
fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

/// 1234567 as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What a bar says behind its bar.
fn message(chain: &ChainProgress) -> String {
    let done = chain.done.map_or_else(|| "-".to_owned(), |done| grouped(done.0));
    let head = chain.head.map_or_else(|| "?".to_owned(), |head| grouped(head.0));
    let mut text = format!("block {done} of {head}");
    if chain.phase == Phase::Backfill {
        if let Some(rate) = chain.blocks_per_second {
            text.push_str(&format!(", {} blocks/s", grouped(rate.round() as u64)));
        }
        text.push_str(&format!(
            ", {} logs/s, {} rows/s",
            grouped(chain.logs_per_second.round() as u64),
            grouped(chain.rows_per_second.round() as u64)
        ));
        if let Some(left) = eta(chain) {
            text.push_str(&format!(", {} left", span(left)));
        }
    } else if let Some(lag) = chain.lag {
        text.push_str(&format!(", {} behind", span(lag)));
    }
    text.push_str(&format!(", {} rows, {}", grouped(chain.rows), phase(&chain.phase)));
    if let Some(reason) = reason(&chain.phase) {
        text.push_str(&format!(": {reason}"));
    }
    text
}

fn names(chain: &ChainProgress) -> String {
    chain.nests.iter().map(|nest| nest.as_str()).collect::<Vec<_>>().join(", ")
}

#[derive(Default)]
struct Bars(BTreeMap<ChainId, ProgressBar>);

impl Bars {
    fn show(&mut self, chain: &ChainProgress) {
        let bar = self.0.entry(chain.chain).or_insert_with(|| {
            let bar = BARS.add(ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(8)));
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:24} {percent:>3}% {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(format!("chain {} ({})", chain.chain, names(chain)));
            bar
        });
        if let (Some(head), Some(behind)) = (chain.head, chain.blocks_behind()) {
            let all = head.next().0.saturating_sub(chain.first.0).max(1);
            bar.set_length(all);
            bar.set_position(all.saturating_sub(behind));
        }
        bar.set_message(message(chain));
    }

    fn clear(self) {
        for bar in self.0.into_values() {
            bar.finish_and_clear();
        }
    }
}

/// When a chain was last logged, and in which phase.
#[derive(Default)]
struct Lines(BTreeMap<ChainId, (Instant, Phase)>);

impl Lines {
    /// Whether a line is due now; if so it counts as written.
    fn due(&mut self, chain: &ChainProgress, now: Instant) -> bool {
        let every = if chain.phase == Phase::Tip { QUIET_LINE_EVERY } else { LINE_EVERY };
        let due = match self.0.get(&chain.chain) {
            Some((at, phase)) => *phase != chain.phase || now.duration_since(*at) >= every,
            None => true,
        };
        if due {
            self.0.insert(chain.chain, (now, chain.phase.clone()));
        }
        due
    }

    fn show(&mut self, chain: &ChainProgress, now: Instant) {
        if !self.due(chain, now) {
            return;
        }
        tracing::info!(
            chain = chain.chain.0,
            nests = names(chain),
            phase = phase(&chain.phase),
            reason = reason(&chain.phase),
            done = chain.done.map(|done| done.0),
            head = chain.head.map(|head| head.0),
            rows = chain.rows,
            blocks_per_second = chain.blocks_per_second.map(f64::round),
            logs_per_second = chain.logs_per_second.round(),
            rows_per_second = chain.rows_per_second.round(),
            eta_seconds = (chain.phase == Phase::Backfill).then(|| eta(chain).map(|left| left.as_secs())).flatten(),
            lag_seconds = chain.lag.map(|lag| lag.as_secs()),
            "progress"
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::BlockNumber;

    fn chain(done: Option<u64>, head: u64, phase: Phase) -> ChainProgress {
        ChainProgress {
            chain: ChainId(1),
            nests: vec!["usdc".parse().unwrap()],
            first: BlockNumber(1_000),
            done: done.map(BlockNumber),
            head: Some(BlockNumber(head)),
            rows: 1_234_567,
            blocks_per_second: Some(100.0),
            rows_per_second: 20_000.4,
            logs_per_second: 20_001.0,
            lag: Some(Duration::from_secs(75)),
            phase,
        }
    }

    #[test]
    fn a_backfill_tells_rates_and_what_is_left() {
        assert_eq!(
            message(&chain(Some(1_999), 10_999, Phase::Backfill)),
            "block 1,999 of 10,999, 100 blocks/s, 20,001 logs/s, 20,000 rows/s, 1m 30s left, 1,234,567 rows, backfill"
        );
        let stuck = ChainProgress { blocks_per_second: Some(0.0), ..chain(Some(1_999), 10_999, Phase::Backfill) };
        assert_eq!(eta(&stuck), None);
    }

    #[test]
    fn at_the_head_the_lag_is_told_and_a_halt_tells_why() {
        assert_eq!(
            message(&chain(Some(9), 10, Phase::Tip)),
            "block 9 of 10, 1m 15s behind, 1,234,567 rows, at the head"
        );
        let halted = message(&chain(Some(9), 10, Phase::Halted("fork below 7".to_owned())));
        assert!(halted.ends_with("HALTED: fork below 7"), "{halted}");
    }

    #[test]
    fn lines_come_with_a_new_phase_or_after_a_while() {
        let mut lines = Lines::default();
        let start = Instant::now();
        let (backfill, tip) = (chain(None, 10, Phase::Backfill), chain(None, 10, Phase::Tip));
        let due: Vec<bool> = [(&backfill, 0), (&backfill, 4), (&backfill, 5), (&tip, 6), (&tip, 12), (&tip, 66)]
            .into_iter()
            .map(|(chain, second)| lines.due(chain, start + Duration::from_secs(second)))
            .collect();
        assert_eq!(due, [true, false, true, true, false, true]);
    }

    #[tokio::test]
    async fn reporting_ends_with_its_sender() {
        let (sender, receiver) = watch::channel(Progress { chains: vec![chain(None, 10, Phase::Starting)] });
        let reporter = tokio::spawn(report(receiver, Reporting::Lines));
        sender.send_replace(Progress::default());
        drop(sender);
        reporter.await.unwrap();
    }

    #[test]
    fn spans_and_numbers_are_readable() {
        let shown = [12, 250, 7_260, 100_000].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(shown, ["12s", "4m 10s", "2h 1m", "1d 3h"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
