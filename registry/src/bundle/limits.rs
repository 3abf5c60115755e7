//! How large the parts of a bundle may be. Foreign bytes are held against these before anything is allocated for them.

/// Most bytes of a whole bundle file.
pub const MAX_BUNDLE_BYTES: usize = 32 << 20;
/// Most bytes of `nuthatch:plan`.
pub const MAX_PLAN_BYTES: usize = 8 << 20;
/// Most bytes of `nuthatch:views`.
pub const MAX_VIEWS_BYTES: usize = 8 << 20;
/// Most bytes of one file.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// Deepest nesting of components and modules. What `componentize` makes is 2 deep.
pub const MAX_NESTING: usize = 16;
