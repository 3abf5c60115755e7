//! The rules of a manifest's content.

use std::collections::BTreeSet;
use std::fmt;

use semver::Version;

use super::{BUNDLE_FORMAT, Manifest};
use crate::bundle::MAX_FILE_BYTES;
use crate::names::{is_alias, is_column_name, is_relation_name, is_secret_name, shown};
use crate::{LogFilter, PROVENANCE, TableSchema};

/// Most contracts (aliases).
pub const MAX_CONTRACTS: usize = 1_024;
/// Most addresses, of contracts and again of filters.
pub const MAX_ADDRESSES: usize = 65_536;
/// Most filters.
pub const MAX_FILTERS: usize = 4_096;
/// Most first topics in all filters together.
pub const MAX_TOPICS: usize = 65_536;
/// Most tables.
pub const MAX_TABLES: usize = 4_096;
/// Most columns of one table, provenance not counted.
pub const MAX_COLUMNS: usize = 512;
/// Most views.
pub const MAX_VIEWS: usize = 512;
/// Most secrets.
pub const MAX_SECRETS: usize = 64;
/// Most files.
pub const MAX_FILES: usize = 4_096;
/// Most bytes of one doc or purpose.
pub const MAX_DOC: usize = 4_096;
/// Most bytes of a version.
pub const MAX_VERSION: usize = 64;

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A contract, by alias.
    Contract,
    /// A contract's or filter's address.
    Address,
    /// A log filter, by place.
    Filter,
    /// A filter's first topic.
    Topic,
    /// A table.
    Table,
    /// A column, as `table.column`.
    Column,
    /// A view.
    View,
    /// A secret.
    Secret,
    /// A file.
    File,
}

impl Thing {
    fn plural(self) -> &'static str {
        match self {
            Thing::Contract => "contracts",
            Thing::Address => "addresses",
            Thing::Filter => "filters",
            Thing::Topic => "topics",
            Thing::Table => "tables",
            Thing::Column => "columns",
            Thing::View => "views",
            Thing::Secret => "secrets",
            Thing::File => "files",
        }
    }

    fn name_rule(self) -> &'static str {
        match self {
            Thing::Contract => {
                "a lower-case letter, then up to 62 lower-case letters, digits and single underscores, none at the end"
            }
            Thing::Column => {
                "a lower-case letter or underscore, then up to 127 lower-case letters, digits and underscores"
            }
            Thing::Secret => "a lower-case letter, then up to 62 lower-case letters, digits and underscores",
            _ => {
                "a lower-case letter, then up to 127 lower-case letters, digits and underscores; a leading underscore \
                 is kept for the host's own tables"
            }
        }
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Thing::Contract => "contract",
            Thing::Address => "address",
            Thing::Filter => "filter",
            Thing::Topic => "topic",
            Thing::Table => "table",
            Thing::Column => "column",
            Thing::View => "view",
            Thing::Secret => "secret",
            Thing::File => "file",
        })
    }
}

/// A rule of a manifest's content that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestProblem {
    /// Not [`BUNDLE_FORMAT`].
    #[error("its format is {found}, this nuthatch writes {BUNDLE_FORMAT}")]
    Format {
        /// The number.
        found: u32,
    },
    /// A version with build metadata, or a long one.
    #[error("the {what} version '{version}' cannot be used: at most {MAX_VERSION} characters, and nothing after a '+'")]
    Version {
        /// `nest` or `interface`.
        what: &'static str,
        /// As given.
        version: String,
    },
    /// Chain 0.
    #[error("chain id 0 names no chain")]
    NoChain,
    /// More than the limit.
    #[error("{count} {}{where_}, more than the {max} allowed; split the nest", .what.plural())]
    TooMany {
        /// Which.
        what: Thing,
        /// Empty, or ` in table …`.
        where_: String,
        /// How many.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A name that breaks its rule.
    #[error("'{name}' cannot name a {what}: {}", .what.name_rule())]
    Name {
        /// Which.
        what: Thing,
        /// As given.
        name: String,
    },
    /// A name given twice.
    #[error("{what} '{name}' stands twice; give each its own name")]
    Twice {
        /// Which.
        what: Thing,
        /// The name.
        name: String,
    },
    /// A column that has the name of one that the host adds.
    #[error("column '{table}.{column}' has the name of a column that the host adds to every table; rename it")]
    Provenance {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// A view that has a table's name.
    #[error("view '{0}' has the name of a table; rename it")]
    ViewHidesTable(String),
    /// A view whose file is not listed.
    #[error("view '{view}' names the file '{file}', which is not among the bundle's files")]
    ViewFile {
        /// View.
        view: String,
        /// Its file.
        file: String,
    },
    /// A contract that names no address.
    #[error("contract '{0}' has no address")]
    NoAddress(String),
    /// Hex of a wrong form.
    #[error("'{text}' in filter {filter} is not {}", match .what { Thing::Topic => "a topic: 0x and 64 lower-case hex digits", _ => "an address: 0x and 40 lower-case hex digits" })]
    Hex {
        /// Address or topic.
        what: Thing,
        /// Place of the filter.
        filter: usize,
        /// As given.
        text: String,
    },
    /// A list that has to be sorted and is not.
    #[error("the {} are not in order ('{name}' comes too late); sort them", .what.plural())]
    Order {
        /// Which.
        what: Thing,
        /// First that is out of place.
        name: String,
    },
    /// Prose that is too long or holds control characters.
    #[error(
        "the text of {what} '{name}' cannot be used: at most {MAX_DOC} bytes and no control characters but newline and tab"
    )]
    Text {
        /// Which.
        what: Thing,
        /// Its name.
        name: String,
    },
    /// A file above the limit.
    #[error("file '{path}' has {size} bytes, more than the {MAX_FILE_BYTES} allowed")]
    FileSize {
        /// Path.
        path: String,
        /// Bytes.
        size: u64,
    },
}

type Checked = Result<(), ManifestProblem>;

pub(super) fn check(manifest: &Manifest) -> Checked {
    if manifest.format != BUNDLE_FORMAT {
        return Err(ManifestProblem::Format { found: manifest.format });
    }
    version("nest", &manifest.version)?;
    version("interface", &manifest.world)?;
    if manifest.chain_id == 0 {
        return Err(ManifestProblem::NoChain);
    }
    contracts(manifest)?;
    filters(&manifest.filters)?;
    tables(&manifest.tables)?;
    files(manifest)?;
    views(manifest)?;
    secrets(manifest)
}

fn version(what: &'static str, version: &Version) -> Checked {
    let text = version.to_string();
    // Build metadata would give two bundles one place in the order of versions.
    if text.len() > MAX_VERSION || !version.build.is_empty() {
        return Err(ManifestProblem::Version { what, version: shown(&text) });
    }
    Ok(())
}

fn at_most(what: Thing, count: usize, max: usize) -> Checked {
    if count > max {
        return Err(ManifestProblem::TooMany { what, where_: String::new(), count, max });
    }
    Ok(())
}

/// Each item after the one before it; an equal one stands twice.
fn ascending<'a, T: Ord + fmt::Display + 'a>(what: Thing, items: impl IntoIterator<Item = T>) -> Checked {
    let mut before: Option<T> = None;
    for item in items {
        if let Some(before) = &before {
            match before.cmp(&item) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Err(ManifestProblem::Twice { what, name: item.to_string() }),
                std::cmp::Ordering::Greater => return Err(ManifestProblem::Order { what, name: item.to_string() }),
            }
        }
        before = Some(item);
    }
    Ok(())
}

fn prose(what: Thing, name: &str, text: &str) -> Checked {
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.len() > MAX_DOC || text.contains(control) {
        return Err(ManifestProblem::Text { what, name: name.to_owned() });
    }
    Ok(())
}

fn named(what: Thing, name: &str, rule: impl Fn(&str) -> bool) -> Checked {
    if rule(name) { Ok(()) } else { Err(ManifestProblem::Name { what, name: shown(name) }) }
}

fn contracts(manifest: &Manifest) -> Checked {
    at_most(Thing::Contract, manifest.contracts.len(), MAX_CONTRACTS)?;
    at_most(Thing::Address, manifest.contracts.iter().map(|c| c.addresses.len()).sum(), MAX_ADDRESSES)?;
    let mut seen = BTreeSet::new();
    for contract in &manifest.contracts {
        named(Thing::Contract, &contract.alias, is_alias)?;
        if contract.addresses.is_empty() {
            return Err(ManifestProblem::NoAddress(contract.alias.clone()));
        }
        ascending(Thing::Address, contract.addresses.iter())?;
        for address in &contract.addresses {
            if !seen.insert(address) {
                return Err(ManifestProblem::Twice { what: Thing::Address, name: address.to_string() });
            }
        }
    }
    ascending(Thing::Contract, manifest.contracts.iter().map(|c| c.alias.as_str()))
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.strip_prefix("0x")
        .is_some_and(|hex| hex.len() == digits && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

fn filters(filters: &[LogFilter]) -> Checked {
    at_most(Thing::Filter, filters.len(), MAX_FILTERS)?;
    at_most(Thing::Address, filters.iter().map(|f| f.addresses.len()).sum(), MAX_ADDRESSES)?;
    at_most(Thing::Topic, filters.iter().map(|f| f.topics.len()).sum(), MAX_TOPICS)?;
    for (place, filter) in filters.iter().enumerate() {
        for (what, texts, digits) in [(Thing::Address, &filter.addresses, 40), (Thing::Topic, &filter.topics, 64)] {
            let mut seen = BTreeSet::new();
            for text in texts {
                if !is_hex(text, digits) {
                    return Err(ManifestProblem::Hex { what, filter: place, text: shown(text) });
                }
                if !seen.insert(text) {
                    return Err(ManifestProblem::Twice { what, name: text.clone() });
                }
            }
        }
    }
    Ok(())
}

fn tables(tables: &[TableSchema]) -> Checked {
    at_most(Thing::Table, tables.len(), MAX_TABLES)?;
    let mut names = BTreeSet::new();
    for table in tables {
        named(Thing::Table, &table.name, is_relation_name)?;
        prose(Thing::Table, &table.name, &table.doc)?;
        if !names.insert(&table.name) {
            return Err(ManifestProblem::Twice { what: Thing::Table, name: table.name.clone() });
        }
        columns(table)?;
    }
    Ok(())
}

fn columns(table: &TableSchema) -> Checked {
    let count = table.columns.len();
    if count > MAX_COLUMNS {
        let where_ = format!(" in table '{}'", table.name);
        return Err(ManifestProblem::TooMany { what: Thing::Column, where_, count, max: MAX_COLUMNS });
    }
    let mut names = BTreeSet::new();
    for column in &table.columns {
        let full = || format!("{}.{}", table.name, shown(&column.name));
        if !is_column_name(&column.name) {
            return Err(ManifestProblem::Name { what: Thing::Column, name: full() });
        }
        if PROVENANCE.iter().any(|(name, _)| *name == column.name) {
            return Err(ManifestProblem::Provenance { table: table.name.clone(), column: column.name.clone() });
        }
        if !names.insert(&column.name) {
            return Err(ManifestProblem::Twice { what: Thing::Column, name: full() });
        }
        prose(Thing::Column, &full(), &column.doc)?;
    }
    Ok(())
}

fn files(manifest: &Manifest) -> Checked {
    at_most(Thing::File, manifest.files.len(), MAX_FILES)?;
    ascending(Thing::File, manifest.files.iter().map(|f| &f.path))?;
    match manifest.files.iter().find(|file| file.size > MAX_FILE_BYTES as u64) {
        Some(file) => Err(ManifestProblem::FileSize { path: file.path.to_string(), size: file.size }),
        None => Ok(()),
    }
}

fn views(manifest: &Manifest) -> Checked {
    at_most(Thing::View, manifest.views.len(), MAX_VIEWS)?;
    let tables: BTreeSet<_> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    let files: BTreeSet<_> = manifest.files.iter().map(|file| &file.path).collect();
    let mut names = BTreeSet::new();
    for view in &manifest.views {
        named(Thing::View, &view.name, is_relation_name)?;
        prose(Thing::View, &view.name, &view.doc)?;
        if !names.insert(&view.name) {
            return Err(ManifestProblem::Twice { what: Thing::View, name: view.name.clone() });
        }
        if tables.contains(view.name.as_str()) {
            return Err(ManifestProblem::ViewHidesTable(view.name.clone()));
        }
        if !files.contains(&view.file) {
            return Err(ManifestProblem::ViewFile { view: view.name.clone(), file: view.file.to_string() });
        }
    }
    Ok(())
}

fn secrets(manifest: &Manifest) -> Checked {
    at_most(Thing::Secret, manifest.secrets.len(), MAX_SECRETS)?;
    for secret in &manifest.secrets {
        named(Thing::Secret, &secret.name, is_secret_name)?;
        prose(Thing::Secret, &secret.name, &secret.purpose)?;
    }
    ascending(Thing::Secret, manifest.secrets.iter().map(|s| s.name.as_str()))
}
