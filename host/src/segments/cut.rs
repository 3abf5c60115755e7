//! Where a table's rows are cut into segments. The rule sees data only, so every operator cuts alike.

use crate::model::{BlockNumber, BlockRange};

/// Rows that fill a segment; those of the block that reaches this number still go in.
pub const SEGMENT_ROWS: u64 = 131_072;

/// The rule of one chain: a segment ends with the block that fills it, or with its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutRule {
    rows: u64,
    span: u64,
}

/// Rows of a table that lie in a range of blocks, as chunks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From the block of its first row on; pieces of one table never overlap.
    pub range: BlockRange,
    /// Rows, at least 1.
    pub rows: u64,
}

/// A cut that has come due: how many of the pieces hold its rows. The last of them may hold more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due(pub usize);

impl CutRule {
    /// The rule of a chain whose spans have this many blocks, a power of two.
    pub fn of_span(span: u64) -> CutRule {
        CutRule { rows: SEGMENT_ROWS, span: span.max(1) }
    }

    /// The same rule for smaller segments, so that tests need fewer rows.
    #[must_use]
    pub fn filled_by(self, rows: u64) -> CutRule {
        CutRule { rows: rows.max(1), ..self }
    }

    /// Rows that fill a segment.
    pub fn rows(self) -> u64 {
        self.rows
    }

    /// The last block of the span that this block lies in.
    pub fn span_end(self, block: BlockNumber) -> BlockNumber {
        BlockNumber(block.0 / self.span * self.span + (self.span - 1))
    }

    /// The next cut of a table whose rows after the last one lie in `pieces`, in block order; none as long as blocks
    /// up to `final_to` do not decide it.
    pub fn due(self, pieces: &[Piece], final_to: BlockNumber) -> Option<Due> {
        let span_end = self.span_end(pieces.first()?.range.first);
        let mut rows = 0;
        let mut held = 0;
        for piece in pieces.iter().take_while(|piece| piece.range.first <= span_end) {
            held += 1;
            // Of a piece that reaches above the final blocks nobody knows yet what is final in it.
            if piece.range.last <= final_to {
                rows += piece.rows;
                if rows >= self.rows {
                    return Some(Due(held));
                }
            }
        }
        (span_end <= final_to).then_some(Due(held))
    }

    /// The last block of the segment that begins with the first of these rows, given by their blocks in order. None
    /// where they do not decide it, which those of a [`Due`] cut do.
    pub fn last_block(self, blocks: &[u64], final_to: BlockNumber) -> Option<BlockNumber> {
        let span_end = self.span_end(BlockNumber(*blocks.first()?));
        let in_reach = blocks.partition_point(|block| *block <= span_end.min(final_to).0);
        let filled = usize::try_from(self.rows).ok().and_then(|rows| blocks[..in_reach].get(rows - 1));
        match filled {
            Some(block) => Some(BlockNumber(*block)),
            None => (span_end <= final_to).then_some(span_end),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(first: u64, last: u64, rows: u64) -> Piece {
        Piece { range: BlockRange::new(BlockNumber(first), BlockNumber(last)).unwrap(), rows }
    }

    fn rule() -> CutRule {
        CutRule::of_span(64).filled_by(10)
    }

    #[test]
    fn rows_or_the_end_of_the_span_make_a_cut_due() {
        let due = |pieces: &[Piece], final_to| rule().due(pieces, BlockNumber(final_to));
        assert_eq!(due(&[], 1_000), None);
        assert_eq!(due(&[piece(0, 9, 9)], 62), None);
        assert_eq!(due(&[piece(0, 9, 9)], 63), Some(Due(1)));
        assert_eq!(due(&[piece(0, 9, 9), piece(10, 12, 1)], 12), Some(Due(2)));
        assert_eq!(due(&[piece(0, 9, 9), piece(10, 12, 1)], 11), None);
        assert_eq!(due(&[piece(70, 70, 1), piece(120, 140, 1)], 127), Some(Due(2)));
    }

    #[test]
    fn the_block_that_fills_a_segment_goes_in_whole() {
        let rule = CutRule::of_span(64).filled_by(3);
        let last = |blocks: &[u64], final_to| rule.last_block(blocks, BlockNumber(final_to));
        assert_eq!(last(&[1, 2, 2, 2, 3], 60), Some(BlockNumber(2)));
        assert_eq!(last(&[1, 2], 60), None);
        assert_eq!(last(&[1, 2], 63), Some(BlockNumber(63)));
        assert_eq!(last(&[1, 2, 70], 80), Some(BlockNumber(63)));
        assert_eq!(last(&[70], 80), None);
        assert_eq!(last(&[], 80), None);
    }

    /// Cuts of a table as a process makes them that sees its blocks in these steps, pieces as windows left them.
    fn cuts(rule: CutRule, blocks: &[u64], steps: &[u64], window: u64) -> Vec<Vec<u64>> {
        let mut left: Vec<u64> = blocks.to_vec();
        let mut made = Vec::new();
        for final_to in steps.iter().copied().map(BlockNumber) {
            loop {
                let pieces: Vec<Piece> = left
                    .chunk_by(|a, b| a / window == b / window)
                    .map(|part| piece(part[0], part[0] / window * window + window - 1, part.len() as u64))
                    .collect();
                let Some(Due(held)) = rule.due(&pieces, final_to) else { break };
                let held: usize = pieces[..held].iter().map(|piece| piece.rows as usize).sum();
                let last = rule.last_block(&left[..held], final_to).unwrap();
                let rest = left.partition_point(|block| *block <= last.0);
                made.push(left.drain(..rest).collect());
            }
        }
        made
    }

    proptest! {
        /// I8: neither window size nor polling moves a cut.
        #[test]
        fn cuts_depend_on_the_rows_alone(
            mut blocks in prop::collection::vec(0u64..600, 0..200),
            mut steps in prop::collection::vec(0u64..640, 0..12),
            fill in 1u64..40,
            span in 3u32..8,
        ) {
            blocks.sort_unstable();
            steps.sort_unstable();
            // Far enough for the last span to end, and for the largest window.
            steps.push(800);
            let rule = CutRule::of_span(1 << span).filled_by(fill);
            let straight = cuts(rule, &blocks, &[800], 1);
            prop_assert_eq!(straight.iter().map(Vec::len).sum::<usize>(), blocks.len());
            for cut in &straight {
                prop_assert!(!cut.is_empty());
                prop_assert_eq!(rule.span_end(BlockNumber(cut[0])), rule.span_end(BlockNumber(cut[cut.len() - 1])));
            }
            for window in [1, 3, 8, 100] {
                prop_assert_eq!(&cuts(rule, &blocks, &steps, window), &straight);
            }
        }
    }
}
