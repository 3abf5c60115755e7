//! Nest bundles: format, address, data identity, manifest and compatibility.
#![deny(missing_docs)]

mod address;
mod bundle;
mod canonical;
mod chain_names;
mod compat;
mod hash;
mod identity;
mod manifest;
mod names;
mod nest_toml;
mod path;
mod schema;

pub use address::{BadAddress, ContractAddress};
pub use bundle::{
    Bundle, BundleBuilder, BundleError, ComponentizeError, Extern, Interface, MAX_BUNDLE_BYTES, MAX_FILE_BYTES,
    MAX_NESTING, MAX_PLAN_BYTES, MAX_VIEWS_BYTES, OtherFile, SECTION_FILE, SECTION_MANIFEST, SECTION_PLAN,
    SECTION_PREFIX, SECTION_VIEWS, componentize,
};
pub use canonical::canonical_json;
pub use chain_names::{Chain, UnknownChain};
pub use compat::{Bump, Change, Compatibility, Reason, Refusal, compat};
pub use hash::{BadHash, BadName, BundleHash, ContentHash, DataIdentity, NestName};
pub use identity::{SEGMENT_FORMAT, data_identity};
pub use manifest::{
    BUNDLE_FORMAT, Budget, CodeKind, MAX_ADDRESSES, MAX_COLUMNS, MAX_CONTRACTS, MAX_DOC, MAX_FILES, MAX_FILTERS,
    MAX_MANIFEST_BYTES, MAX_SECRETS, MAX_TABLES, MAX_TOPICS, MAX_VERSION, MAX_VIEWS, Manifest, ManifestContract,
    ManifestError, ManifestFile, ManifestProblem, ManifestView, Secret, Thing, WORLD,
};
pub use names::{MAX_SHORT_NAME, MAX_SQL_NAME, is_alias, is_column_name, is_relation_name, is_secret_name};
pub use nest_toml::{
    CodeSource, MAX_NEST_TOML_BYTES, NestContract, NestToml, NestTomlError, NestView, PlanConfigError,
};
pub use path::{BadPath, FilePath, FolderPath, MAX_PATH};
pub use schema::{ColumnSchema, ColumnType, LogFilter, PROVENANCE, TableSchema, UnknownType};
