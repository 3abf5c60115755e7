//! Nest bundles: format, address, data identity, manifest and compatibility; the registry that keeps them, and the cache.
#![deny(missing_docs)]

mod address;
mod bundle;
mod cache;
mod canonical;
mod chain_names;
mod compat;
pub mod durable;
mod hash;
mod identity;
mod manifest;
mod names;
mod nest_toml;
mod path;
mod pin;
mod record;
mod registry;
mod scan;
mod schema;

pub use address::{BadAddress, ContractAddress};
pub use bundle::{
    Bundle, BundleBuilder, BundleError, ComponentizeError, Extern, Interface, MAX_BUNDLE_BYTES, MAX_FILE_BYTES,
    MAX_NESTING, MAX_PLAN_BYTES, MAX_VIEWS_BYTES, OtherFile, SECTION_FILE, SECTION_MANIFEST, SECTION_PLAN,
    SECTION_PREFIX, SECTION_VIEWS, componentize,
};
pub use cache::{Cache, CacheEntry, CacheError, Cached, PullError, Puller};
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
pub use pin::{BadPin, BadPrefix, HashPrefix, Pin, PrefixError, PullTarget, Want};
pub use record::{BadRecord, BadTimestamp, MAX_REASON, MAX_RECORD_BYTES, Notice, NoticeKind, Timestamp, VersionRecord};
pub use registry::{
    CheckedBundle, Created, Key, Note, NotifyError, Patience, Pick, Problem, PublishError, Published, PublishedVersion,
    Registry, RegistryError, RegistryOptions, ResolveError, Shelf, Shortfall, Side, Standing, Verification,
    VerifiedBytes, open, open_existing,
};
pub use scan::{Finding, Suspect, scan_bundle, scan_text};
pub use schema::{ColumnSchema, ColumnType, LogFilter, PROVENANCE, TableSchema, UnknownType};
