//! The loop of one chain: lanes, window to decode to commit, reorg.
