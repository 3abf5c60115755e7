//! The SQLite backend.
