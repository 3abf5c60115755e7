//! `nest.toml`: what an author edits.

mod error;
mod plan_config;
mod raw;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;
use toml::Spanned;

pub use error::NestTomlError;
pub use plan_config::PlanConfigError;

use crate::manifest::{BUNDLE_FORMAT, MAX_ADDRESSES, MAX_CONTRACTS, MAX_FILES, MAX_SECRETS, MAX_VIEWS, WORLD};
use crate::{
    Chain, CodeKind, ContractAddress, FilePath, FolderPath, LogFilter, Manifest, ManifestContract, ManifestView,
    NestName, Secret, TableSchema,
};
use error::Place;
use raw::{Entry, EventName, OneOrMany, RawContract, RawNestToml};

/// Most bytes of a `nest.toml`.
pub const MAX_NEST_TOML_BYTES: usize = 1 << 20;

/// A `nest.toml` that has been read and checked. What has no order of its own is sorted, so that moving lines about in
/// the file changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestToml {
    /// The nest's name.
    pub name: NestName,
    /// The nest's version.
    pub version: Version,
    /// The one chain that it reads.
    pub chain: Chain,
    /// Documents that go into the bundle.
    pub docs: Vec<FilePath>,
    /// Contracts, sorted by alias.
    pub contracts: Vec<NestContract>,
    /// Whose code decodes.
    pub code: CodeSource,
    /// SQL views in the order of the file.
    pub views: Vec<NestView>,
    /// Secrets, sorted by name.
    pub secrets: Vec<Secret>,
}

/// Contracts of one kind under one alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestContract {
    /// First half of its tables' names.
    pub alias: String,
    /// At least one, sorted.
    pub addresses: Vec<ContractAddress>,
    /// First block whose logs count.
    pub start_block: u64,
    /// ABI files, merged in this order. At least one where the standard decoder decodes.
    pub abis: Vec<FilePath>,
    /// The only events to decode, by name or signature, sorted; none: all of the ABI.
    pub events: Option<Vec<String>>,
    /// Anonymous events to look for, by name or signature, sorted.
    pub anonymous: Vec<String>,
}

/// Whose code decodes the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSource {
    /// The standard decoder that comes with nuthatch.
    Standard,
    /// A Rust crate in this folder.
    Crate(FolderPath),
}

/// One SQL view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestView {
    /// SQL name.
    pub name: String,
    /// File that holds its SELECT.
    pub sql: FilePath,
    /// For people; may be empty.
    pub doc: String,
}

impl NestToml {
    /// Reads the text of a `nest.toml`; `file` names it in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, NestTomlError> {
        if text.len() > MAX_NEST_TOML_BYTES {
            return Err(NestTomlError::TooLarge { file: file.to_owned(), bytes: text.len() });
        }
        let place = Place { text, file };
        let raw: RawNestToml = toml::from_str(text).map_err(|error| place.toml(error))?;
        read(raw, &place)
    }

    /// Every file that goes into the bundle: ABIs, SQL views, docs.
    pub fn file_paths(&self) -> BTreeSet<FilePath> {
        let abis = self.contracts.iter().flat_map(|contract| &contract.abis);
        abis.chain(self.views.iter().map(|view| &view.sql)).chain(&self.docs).cloned().collect()
    }

    /// The JSON that the decoder's `plan` takes; `files` holds the ABIs by path.
    pub fn plan_config(&self, files: &BTreeMap<FilePath, Vec<u8>>) -> Result<Vec<u8>, PlanConfigError> {
        plan_config::plan_config(&self.contracts, files)
    }

    /// The manifest of this nest, with tables and filters as the decoder's `describe` gives them. The list of files is
    /// left to the [`crate::BundleBuilder`], which has their bytes.
    pub fn manifest(&self, tables: Vec<TableSchema>, filters: Vec<LogFilter>) -> Manifest {
        let contract = |contract: &NestContract| ManifestContract {
            alias: contract.alias.clone(),
            addresses: contract.addresses.clone(),
            start_block: contract.start_block,
        };
        let view =
            |view: &NestView| ManifestView { name: view.name.clone(), file: view.sql.clone(), doc: view.doc.clone() };
        Manifest {
            format: BUNDLE_FORMAT,
            name: self.name.clone(),
            version: self.version.clone(),
            chain_id: self.chain.0,
            world: WORLD,
            code: match self.code {
                CodeSource::Standard => CodeKind::Standard,
                CodeSource::Crate(_) => CodeKind::Own,
            },
            contracts: self.contracts.iter().map(contract).collect(),
            filters,
            tables,
            views: self.views.iter().map(view).collect(),
            secrets: self.secrets.clone(),
            files: Vec::new(),
            budget: None,
        }
    }
}

fn read(raw: RawNestToml, place: &Place<'_>) -> Result<NestToml, NestTomlError> {
    let code = match raw.code {
        None => CodeSource::Standard,
        Some(code) => CodeSource::Crate(code.folder),
    };
    for (what, count, max) in [
        ("contracts", raw.contracts.len(), MAX_CONTRACTS),
        ("views", raw.views.len(), MAX_VIEWS),
        ("secrets", raw.secrets.len(), MAX_SECRETS),
    ] {
        if count > max {
            return Err(place.error(0..0, format!("{count} {what}, more than the {max} allowed; split the nest")));
        }
    }
    if raw.contracts.is_empty() && code == CodeSource::Standard {
        let problem =
            "no contract is named, so there is nothing to index; add [[contracts]] with alias, address and abi";
        return Err(place.error(0..0, problem));
    }
    let contracts = contracts(raw.contracts, &code, place)?;

    let mut views = Vec::new();
    let mut names = BTreeSet::new();
    for view in raw.views {
        let span = view.name.span();
        let name = view.name.into_inner().0;
        if !names.insert(name.clone()) {
            return Err(place.error(span, format!("view '{name}' stands twice; give each its own name")));
        }
        views.push(NestView { name, sql: view.sql, doc: view.doc.0 });
    }

    let mut secrets = BTreeMap::new();
    for secret in raw.secrets {
        let span = secret.name.span();
        let name = secret.name.into_inner().0;
        let entry = Secret { name: name.clone(), purpose: secret.purpose.0 };
        if secrets.insert(name.clone(), entry).is_some() {
            return Err(place.error(span, format!("secret '{name}' stands twice; give each its own name")));
        }
    }

    let nest = NestToml {
        name: raw.nest.name,
        version: raw.nest.version,
        chain: raw.nest.chain,
        docs: distinct(entries(raw.nest.docs, place)?, "document", place)?.into_iter().collect(),
        contracts,
        code,
        views,
        secrets: secrets.into_values().collect(),
    };
    let files = nest.file_paths().len();
    if files > MAX_FILES {
        return Err(place.error(0..0, format!("{files} files, more than the {MAX_FILES} allowed; split the nest")));
    }
    Ok(nest)
}

fn contracts(
    raw: Vec<Spanned<RawContract>>,
    code: &CodeSource,
    place: &Place<'_>,
) -> Result<Vec<NestContract>, NestTomlError> {
    let mut contracts: BTreeMap<String, NestContract> = BTreeMap::new();
    let mut owners: BTreeMap<ContractAddress, String> = BTreeMap::new();
    for raw in raw {
        let whole = raw.span();
        let raw = raw.into_inner();
        let alias_span = raw.alias.span();
        let alias = raw.alias.into_inner().0;
        let address_span = raw.address.span();
        let mut addresses = BTreeSet::new();
        for address in OneOrMany::spread(raw.address, place)? {
            let span = address.span();
            let address = address.into_inner();
            if let Some(owner) = owners.insert(address, alias.clone()) {
                let problem = format!("the address {address} stands twice (before in '{owner}'); remove one");
                return Err(place.error(span, problem));
            }
            addresses.insert(address);
        }
        if addresses.is_empty() {
            return Err(place.error(address_span, "the list of addresses is empty; write at least one"));
        }
        if owners.len() > MAX_ADDRESSES {
            let problem = format!("more than the {MAX_ADDRESSES} addresses allowed; split the nest");
            return Err(place.error(address_span, problem));
        }
        let abi_span = raw.abi.as_ref().map_or(whole, Spanned::span);
        let abis = raw.abi.map(|abi| OneOrMany::spread(abi, place)).transpose()?.unwrap_or_default();
        // Kept in the order of the file: that is the order in which they are merged.
        let order: Vec<FilePath> = abis.iter().map(|abi| abi.get_ref().clone()).collect();
        distinct(abis, "ABI", place)?;
        if order.is_empty() && *code == CodeSource::Standard {
            let problem = format!(
                "contract '{alias}' has no ABI, and the standard decoder needs one; write abi = \"abis/{alias}.json\", \
                 or name your own decoder with [code] crate = \".\""
            );
            return Err(place.error(abi_span, problem));
        }
        let contract = NestContract {
            alias: alias.clone(),
            addresses: addresses.into_iter().collect(),
            start_block: raw.start_block,
            abis: order,
            events: raw.events.map(|events| only_events(events, place)).transpose()?,
            anonymous: names(raw.anonymous, place)?,
        };
        if contracts.insert(alias.clone(), contract).is_some() {
            let problem =
                format!("alias '{alias}' stands twice; give each contract its own, or list both addresses under one");
            return Err(place.error(alias_span, problem));
        }
    }
    Ok(contracts.into_values().collect())
}

fn only_events(events: Spanned<Vec<Entry<EventName>>>, place: &Place<'_>) -> Result<Vec<String>, NestTomlError> {
    if events.get_ref().is_empty() {
        let problem =
            "the list of events is empty, so nothing would be decoded; name events, or remove the line for all";
        return Err(place.error(events.span(), problem));
    }
    names(events.into_inner(), place)
}

fn names(events: Vec<Entry<EventName>>, place: &Place<'_>) -> Result<Vec<String>, NestTomlError> {
    let events =
        entries(events, place)?.into_iter().map(|event| Spanned::new(event.span(), event.into_inner().0)).collect();
    Ok(distinct(events, "event", place)?.into_iter().collect())
}

fn entries<T>(entries: Vec<Entry<T>>, place: &Place<'_>) -> Result<Vec<Spanned<T>>, NestTomlError> {
    entries.into_iter().map(|entry| entry.read(place)).collect()
}

fn distinct<T: Ord + std::fmt::Display>(
    items: Vec<Spanned<T>>,
    what: &str,
    place: &Place<'_>,
) -> Result<BTreeSet<T>, NestTomlError> {
    let mut seen = BTreeSet::new();
    for item in items {
        let span = item.span();
        let item = item.into_inner();
        if seen.contains(&item) {
            return Err(place.error(span, format!("{what} '{item}' stands twice; remove one")));
        }
        seen.insert(item);
    }
    Ok(seen)
}
