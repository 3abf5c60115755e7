//! The format as others see it: JSON Schemas, codecs under random input, components from real core modules.
#![allow(clippy::unwrap_used)]

mod codecs;
mod components;
mod json_schema;
mod manifest_schema;
mod nest_schema;
mod record_schema;
