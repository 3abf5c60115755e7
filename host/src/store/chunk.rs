//! Columnar chunks: one table's rows of one window, without their schema.
