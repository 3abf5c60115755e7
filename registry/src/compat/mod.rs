//! Whether readers of one version of a nest can be given another.
//!
//! Computed from the manifests alone. What a manifest does not show is not seen: the columns of a view (they follow
//! from its SQL once it is planned, so whoever has an engine holds those of both versions against each other before it
//! calls a changed view compatible), which rows a changed decoder makes of the same logs, and what a fold keeps.

mod bump;
mod sentences;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

pub use bump::Bump;

use crate::{Chain, ColumnSchema, ColumnType, ContractAddress, Manifest, ManifestContract, NestName, TableSchema};

/// The verdict on two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// Every query on the old one still works and means the same.
    Compatible {
        /// What is different, for people.
        changes: Vec<Change>,
    },
    /// Some query may stop working or answer something else.
    Breaking {
        /// All of them, never none.
        reasons: Vec<Reason>,
        /// What is different and would be harmless alone.
        changes: Vec<Change>,
    },
    /// Not versions of one nest on one chain.
    Refused(Refusal),
}

/// Why two manifests cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another chain.
    Chain {
        /// Of the old one.
        old: Chain,
        /// Of the new one.
        new: Chain,
    },
    /// Another nest.
    Nest {
        /// Of the old one.
        old: NestName,
        /// Of the new one.
        new: NestName,
    },
}

/// A difference that breaks readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A table is gone.
    TableRemoved {
        /// Its name.
        table: String,
        /// A new table with the same columns, if there is exactly one.
        renamed_to: Option<String>,
    },
    /// A column is gone.
    ColumnRemoved {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// A new column of the same type, if there is exactly one.
        renamed_to: Option<String>,
    },
    /// A column has another type.
    ColumnType {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// Type before.
        old: ColumnType,
        /// Type now.
        new: ColumnType,
    },
    /// A column that was never NULL can be.
    ColumnNullable {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// A column is new and never NULL. Only nullable ones may be added.
    ColumnAddedNotNull {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// A view is gone.
    ViewRemoved {
        /// Its name.
        view: String,
    },
    /// A contract is gone.
    ContractRemoved {
        /// Its alias.
        alias: String,
    },
    /// A contract is new.
    ContractAdded {
        /// Its alias.
        alias: String,
    },
    /// A contract lost an address.
    AddressRemoved {
        /// Its alias.
        alias: String,
        /// Address.
        address: ContractAddress,
    },
    /// A contract has one address more.
    AddressAdded {
        /// Its alias.
        alias: String,
        /// Address.
        address: ContractAddress,
    },
    /// A contract counts from another block.
    StartBlock {
        /// Its alias.
        alias: String,
        /// Block before.
        old: u64,
        /// Block now.
        new: u64,
    },
}

/// A difference that breaks no reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A table is new.
    TableAdded {
        /// Its name.
        table: String,
    },
    /// A nullable column is new.
    ColumnAdded {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// A column that could be NULL never is now.
    ColumnNotNull {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// The columns that both versions have stand in another order.
    ColumnsReordered {
        /// Table.
        table: String,
    },
    /// A view is new.
    ViewAdded {
        /// Its name.
        view: String,
    },
    /// A view's text is another. Whether its columns are the same is not known here.
    ViewChanged {
        /// Its name.
        view: String,
    },
    /// The code asks for other logs.
    FiltersChanged,
    /// Whose code decodes, or the interface it was built against, is another.
    CodeChanged,
    /// A secret is new: the operator can set it.
    SecretAdded {
        /// Its name.
        secret: String,
    },
    /// A secret is no longer used.
    SecretRemoved {
        /// Its name.
        secret: String,
    },
}

impl Compatibility {
    /// What the version number has to say about this, at least. None where the two cannot be compared.
    pub fn required_bump(&self) -> Option<Bump> {
        match self {
            Compatibility::Refused(_) => None,
            Compatibility::Breaking { .. } => Some(Bump::Major),
            Compatibility::Compatible { changes } => {
                Some(changes.iter().map(Change::bump).max().unwrap_or(Bump::Patch))
            }
        }
    }

    /// Whether the step between these versions says enough.
    pub fn fits(&self, old: &Version, new: &Version) -> bool {
        self.required_bump().is_some_and(|bump| bump.is_made_by(old, new))
    }
}

/// Holds a new version of a nest against an old one.
pub fn compat(old: &Manifest, new: &Manifest) -> Compatibility {
    if old.name != new.name {
        return Compatibility::Refused(Refusal::Nest { old: old.name.clone(), new: new.name.clone() });
    }
    if old.chain_id != new.chain_id {
        return Compatibility::Refused(Refusal::Chain { old: Chain(old.chain_id), new: Chain(new.chain_id) });
    }
    let mut found = Found::default();
    found.contracts(&old.contracts, &new.contracts);
    found.tables(&old.tables, &new.tables);
    found.views(old, new);
    found.rest(old, new);
    match found {
        Found { reasons, changes } if reasons.is_empty() => Compatibility::Compatible { changes },
        Found { reasons, changes } => Compatibility::Breaking { reasons, changes },
    }
}

#[derive(Default)]
struct Found {
    reasons: Vec<Reason>,
    changes: Vec<Change>,
}

fn by_name<'a, T>(items: &'a [T], name: impl Fn(&'a T) -> &'a str) -> BTreeMap<&'a str, &'a T> {
    items.iter().map(|item| (name(item), item)).collect()
}

/// The only item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

impl Found {
    fn contracts(&mut self, old: &[ManifestContract], new: &[ManifestContract]) {
        let after = by_name(new, |contract| contract.alias.as_str());
        let before = by_name(old, |contract| contract.alias.as_str());
        for old in old {
            let alias = &old.alias;
            let Some(new) = after.get(alias.as_str()) else {
                self.reasons.push(Reason::ContractRemoved { alias: alias.clone() });
                continue;
            };
            let (gone, come) = {
                let old: BTreeSet<_> = old.addresses.iter().copied().collect();
                let new: BTreeSet<_> = new.addresses.iter().copied().collect();
                (&old - &new, &new - &old)
            };
            let removed = |address| Reason::AddressRemoved { alias: alias.clone(), address };
            let added = |address| Reason::AddressAdded { alias: alias.clone(), address };
            self.reasons.extend(gone.into_iter().map(removed));
            self.reasons.extend(come.into_iter().map(added));
            if old.start_block != new.start_block {
                let (old, new) = (old.start_block, new.start_block);
                self.reasons.push(Reason::StartBlock { alias: alias.clone(), old, new });
            }
        }
        for new in new.iter().filter(|new| !before.contains_key(new.alias.as_str())) {
            self.reasons.push(Reason::ContractAdded { alias: new.alias.clone() });
        }
    }

    fn tables(&mut self, old: &[TableSchema], new: &[TableSchema]) {
        let before = by_name(old, |table| table.name.as_str());
        let after = by_name(new, |table| table.name.as_str());
        let added: Vec<_> = new.iter().filter(|table| !before.contains_key(table.name.as_str())).collect();
        for old in old {
            match after.get(old.name.as_str()) {
                Some(new) => self.columns(&old.name, &old.columns, &new.columns),
                None => {
                    let same = added.iter().filter(|new| same_columns(&old.columns, &new.columns));
                    let renamed_to = only(same).map(|new| new.name.clone());
                    self.reasons.push(Reason::TableRemoved { table: old.name.clone(), renamed_to });
                }
            }
        }
        self.changes.extend(added.iter().map(|table| Change::TableAdded { table: table.name.clone() }));
    }

    fn columns(&mut self, table: &str, old: &[ColumnSchema], new: &[ColumnSchema]) {
        let before = by_name(old, |column| column.name.as_str());
        let after = by_name(new, |column| column.name.as_str());
        let added: Vec<_> = new.iter().filter(|column| !before.contains_key(column.name.as_str())).collect();
        for old in old {
            let (table, column) = (table.to_owned(), old.name.clone());
            let Some(new) = after.get(old.name.as_str()) else {
                let renamed_to = only(added.iter().filter(|new| new.ty == old.ty)).map(|new| new.name.clone());
                self.reasons.push(Reason::ColumnRemoved { table, column, renamed_to });
                continue;
            };
            if old.ty != new.ty {
                self.reasons.push(Reason::ColumnType { table, column, old: old.ty, new: new.ty });
            } else if !old.nullable && new.nullable {
                self.reasons.push(Reason::ColumnNullable { table, column });
            } else if old.nullable && !new.nullable {
                self.changes.push(Change::ColumnNotNull { table, column });
            }
        }
        for new in added {
            let (table, column) = (table.to_owned(), new.name.clone());
            if new.nullable {
                self.changes.push(Change::ColumnAdded { table, column });
            } else {
                self.reasons.push(Reason::ColumnAddedNotNull { table, column });
            }
        }
        let kept_before = old.iter().map(|column| &column.name).filter(|name| after.contains_key(name.as_str()));
        let kept_after = new.iter().map(|column| &column.name).filter(|name| before.contains_key(name.as_str()));
        if !kept_before.eq(kept_after) {
            self.changes.push(Change::ColumnsReordered { table: table.to_owned() });
        }
    }

    fn views(&mut self, old: &Manifest, new: &Manifest) {
        let before = by_name(&old.views, |view| view.name.as_str());
        let after = by_name(&new.views, |view| view.name.as_str());
        let text = |manifest: &Manifest, path| manifest.files.iter().find(|file| file.path == path).map(|f| f.blake3);
        for view in &old.views {
            match after.get(view.name.as_str()) {
                None => self.reasons.push(Reason::ViewRemoved { view: view.name.clone() }),
                Some(now) if text(old, view.file.clone()) != text(new, now.file.clone()) => {
                    self.changes.push(Change::ViewChanged { view: view.name.clone() });
                }
                Some(_) => {}
            }
        }
        for view in new.views.iter().filter(|view| !before.contains_key(view.name.as_str())) {
            self.changes.push(Change::ViewAdded { view: view.name.clone() });
        }
    }

    fn rest(&mut self, old: &Manifest, new: &Manifest) {
        if old.filters != new.filters {
            self.changes.push(Change::FiltersChanged);
        }
        if (old.code, &old.world) != (new.code, &new.world) {
            self.changes.push(Change::CodeChanged);
        }
        let before: BTreeSet<_> = old.secrets.iter().map(|secret| &secret.name).collect();
        let after: BTreeSet<_> = new.secrets.iter().map(|secret| &secret.name).collect();
        let added = |secret: &&String| Change::SecretAdded { secret: (*secret).clone() };
        let removed = |secret: &&String| Change::SecretRemoved { secret: (*secret).clone() };
        self.changes.extend(after.difference(&before).map(added));
        self.changes.extend(before.difference(&after).map(removed));
    }
}

fn same_columns(old: &[ColumnSchema], new: &[ColumnSchema]) -> bool {
    let shape = |column: &ColumnSchema| (column.name.clone(), column.ty, column.nullable);
    old.iter().map(shape).eq(new.iter().map(shape))
}
