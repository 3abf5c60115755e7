//! How many blocks to ask for at once: a state machine without I/O, one for each endpoint.

use super::refusal::Refusal;

/// Bounds of a [`RangeController`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeBounds {
    /// Blocks of the first request.
    pub first: u64,
    /// Never more blocks than this.
    pub max: u64,
    /// Logs that an answer should not exceed by much, so that memory and retries stay small.
    pub logs: u64,
}

/// What to do after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask again for at most this many blocks, which is fewer than were refused.
    Ask(u64),
    /// Even one block is refused.
    SingleBlock,
}

/// Requests that must go well before the size is raised.
const CALM: u32 = 4;
/// Requests that must go well before a size that was refused is tried again.
const FORGET: u32 = 256;

/// Learns how many blocks an endpoint answers for.
///
/// Every refusal makes the next request strictly smaller, whatever the endpoint suggests. The size grows by an
/// eighth after some good answers, stays under what was refused lately, and is not grown beyond what brings
/// [`RangeBounds::logs`] in one answer.
#[derive(Clone, Debug)]
pub struct RangeController {
    bounds: RangeBounds,
    size: u64,
    /// The smallest number of blocks refused lately.
    refused: Option<u64>,
    /// Good answers of full size in a row.
    calm: u32,
    /// Good answers since the last refusal.
    since_refusal: u32,
}

impl RangeController {
    /// Starts with the first size of the bounds.
    pub fn new(bounds: RangeBounds) -> Self {
        let max = bounds.max.max(1);
        let bounds = RangeBounds { max, ..bounds };
        RangeController { bounds, size: bounds.first.clamp(1, max), refused: None, calm: 0, since_refusal: 0 }
    }

    /// Blocks to ask for: at least 1.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// An answer came for so many blocks.
    pub fn accepted(&mut self, blocks: u64, logs: u64) {
        self.since_refusal = self.since_refusal.saturating_add(1);
        if self.since_refusal >= FORGET {
            self.refused = None;
            self.since_refusal = 0;
        }
        if logs > self.bounds.logs {
            // In proportion, and never by more than half at once.
            let fitting = (u128::from(blocks) * u128::from(self.bounds.logs) / u128::from(logs)) as u64;
            self.size = self.size.min(fitting.max(blocks / 2).max(1));
            self.calm = 0;
        } else if blocks >= self.size && logs <= self.bounds.logs / 2 {
            self.calm += 1;
            if self.calm >= CALM {
                self.calm = 0;
                self.grow();
            }
        }
    }

    fn grow(&mut self) {
        // Nothing known against it: find the limit quickly. Near a known limit: slowly.
        let step = if self.refused.is_none() { self.size } else { (self.size / 8).max(1) };
        let below_refused = self.refused.map_or(u64::MAX, |blocks| blocks.saturating_sub(1).max(1));
        self.size = self.size.saturating_add(step).min(self.bounds.max).min(below_refused);
    }

    /// The endpoint did not answer for so many blocks.
    pub fn refused(&mut self, blocks: u64, refusal: &Refusal) -> Next {
        self.calm = 0;
        self.since_refusal = 0;
        if blocks <= 1 {
            self.size = 1;
            return Next::SingleBlock;
        }
        let half = blocks / 2;
        let next = match refusal.suggested {
            Some(suggested) if suggested >= 1 && suggested < blocks => suggested,
            _ => half,
        };
        self.refused = Some(self.refused.map_or(blocks, |before| before.min(blocks)));
        self.size = self.size.min(next);
        Next::Ask(next)
    }
}

#[cfg(test)]
mod tests;
