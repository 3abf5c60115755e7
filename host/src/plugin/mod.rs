//! wasmtime: load, limit, instantiate, call, validate.
