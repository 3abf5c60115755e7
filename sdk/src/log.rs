//! Diagnostics for people. The host bounds what is written here; it is never part of the result.

pub use crate::bindings::nuthatch::nest::log::Level;

/// Writes one message.
pub fn write(level: Level, message: &str) {
    #[cfg(target_arch = "wasm32")]
    crate::bindings::nuthatch::nest::log::log(level, message);
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{level:?}: {message}");
}

/// For whoever debugs the nest.
pub fn debug(message: &str) {
    write(Level::Debug, message);
}

/// Worth knowing.
pub fn info(message: &str) {
    write(Level::Info, message);
}

/// Odd, and the nest goes on.
pub fn warn(message: &str) {
    write(Level::Warn, message);
}

/// The nest cannot go on.
pub fn error(message: &str) {
    write(Level::Error, message);
}
