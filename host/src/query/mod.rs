//! DataFusion over the hot store: tables, views, 256-bit integers, guards.

pub mod bigint;
