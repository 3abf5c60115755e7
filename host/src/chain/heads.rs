//! Watches the head, and keeps a lower head from looking like a reorg.

use crate::model::Header;

use super::error::Result;
use super::source::Source;

/// What a look at the head showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The head is higher than ever.
    Advanced(Header),
    /// The head is the same block as before.
    Same,
    /// Another block at the highest height seen: a reorg without growth.
    Replaced(Header),
    /// A lower head than before: an endpoint that restarted or lags. Waited out, never followed down.
    Lower {
        /// The head now.
        now: Header,
    },
}

/// The highest head seen so far.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    highest: Option<Header>,
}

impl Heads {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Heads::default()
    }

    /// The highest head seen.
    pub fn highest(&self) -> Option<&Header> {
        self.highest.as_ref()
    }

    /// Looks once.
    pub async fn look(&mut self, source: &dyn Source) -> Result<Look> {
        Ok(self.see(source.head().await?))
    }

    /// What this head means after those seen before.
    pub fn see(&mut self, head: Header) -> Look {
        let look = match &self.highest {
            Some(highest) if head.number < highest.number => return Look::Lower { now: head },
            Some(highest) if head.number == highest.number && head.hash == highest.hash => Look::Same,
            Some(highest) if head.number == highest.number => Look::Replaced(head.clone()),
            _ => Look::Advanced(head.clone()),
        };
        self.highest = Some(head);
        look
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::{B256, BlockNumber};

    fn head(number: u64, fork: u8) -> Header {
        let hash = |n: u64| B256::from([fork; 32]) ^ B256::left_padding_from(&n.to_be_bytes());
        Header {
            number: BlockNumber(number),
            hash: hash(number),
            parent_hash: hash(number - 1),
            timestamp: number,
            logs_bloom: None,
        }
    }

    #[test]
    fn a_lower_head_is_no_reorg() {
        let mut heads = Heads::new();
        assert_eq!(heads.see(head(10, 1)), Look::Advanced(head(10, 1)));
        assert_eq!(heads.see(head(10, 1)), Look::Same);
        assert_eq!(heads.see(head(8, 1)), Look::Lower { now: head(8, 1) });
        assert_eq!(heads.see(head(9, 2)), Look::Lower { now: head(9, 2) });
        assert_eq!(heads.highest(), Some(&head(10, 1)));
        assert_eq!(heads.see(head(10, 2)), Look::Replaced(head(10, 2)));
        assert_eq!(heads.see(head(11, 2)), Look::Advanced(head(11, 2)));
    }
}
