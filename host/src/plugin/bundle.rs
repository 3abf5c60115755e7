//! From a bundle file to code that runs: the bundle's parts, its component compiled, and the two held against each other.

use nuthatch_registry::{Bundle, BundleError, LogFilter, Manifest, TableSchema};

use super::{CallError, Description, LoadError, Plugin, PluginHost};

/// A bundle whose code is loaded and says the same of itself as the manifest does.
#[derive(Clone, Debug)]
pub struct LoadedBundle {
    /// The file, taken apart.
    pub bundle: Bundle,
    /// Its code. As long as this is kept, loading the bundle does not compile it again.
    pub plugin: Plugin,
}

/// Why a bundle is not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleLoadError {
    /// The file is no bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Its code is not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its code does not answer for its plan.
    #[error("the code does not describe the bundle's plan: {0}")]
    Describe(#[from] CallError),
    /// Manifest and code do not agree.
    #[error("manifest and code do not agree: {difference}; the bundle was put together wrongly: build it again")]
    Disagree {
        /// The first thing they differ in, as both have it.
        difference: String,
    },
}

/// Reads, compiles and checks a bundle file. Compiles and calls guest code: call it where blocking is allowed.
pub fn load_bundle(host: &PluginHost, bytes: &[u8]) -> Result<LoadedBundle, BundleLoadError> {
    let bundle = Bundle::parse(bytes)?;
    let plugin = host.load(bundle.bytes())?;
    let described = plugin.describe(bundle.plan())?;
    match difference(bundle.manifest(), &described) {
        Some(difference) => Err(BundleLoadError::Disagree { difference }),
        None => Ok(LoadedBundle { bundle, plugin }),
    }
}

/// What manifest and code first differ in.
fn difference(manifest: &Manifest, described: &Description) -> Option<String> {
    if manifest.tables == described.tables && manifest.filters == described.filters {
        return None;
    }
    let pairs = manifest.tables.iter().zip(&described.tables).enumerate();
    Some(
        counts("tables", manifest.tables.len(), described.tables.len())
            .or_else(|| {
                pairs.filter(|(_, (ours, theirs))| ours != theirs).find_map(|(_, (ours, theirs))| table(ours, theirs))
            })
            .or_else(|| counts("filters", manifest.filters.len(), described.filters.len()))
            .unwrap_or_else(|| filters(&manifest.filters, &described.filters)),
    )
}

fn counts(what: &str, manifest: usize, code: usize) -> Option<String> {
    (manifest != code).then(|| format!("the manifest lists {manifest} {what}, the code {code}"))
}

fn table(manifest: &TableSchema, code: &TableSchema) -> Option<String> {
    if manifest.name != code.name {
        return Some(format!("table '{}' of the manifest is '{}' in the code", manifest.name, code.name));
    }
    let name = &manifest.name;
    if manifest.columns.len() != code.columns.len() {
        let (ours, theirs) = (manifest.columns.len(), code.columns.len());
        return Some(format!("table '{name}' has {ours} columns in the manifest and {theirs} in the code"));
    }
    let spelled = |column: &nuthatch_registry::ColumnSchema| {
        format!("'{}' {}{}", column.name, column.ty, if column.nullable { " null" } else { "" })
    };
    let column = manifest.columns.iter().zip(&code.columns).find(|(ours, theirs)| ours != theirs);
    Some(match column {
        Some((ours, theirs)) if spelled(ours) != spelled(theirs) => {
            format!("table '{name}' has column {} in the manifest and {} in the code", spelled(ours), spelled(theirs))
        }
        Some((ours, _)) => format!("column '{}' of table '{name}' has another doc in the code", ours.name),
        None => format!("table '{name}' has another doc in the code"),
    })
}

fn filters(manifest: &[LogFilter], code: &[LogFilter]) -> String {
    let place = manifest.iter().zip(code).position(|(ours, theirs)| ours != theirs).unwrap_or_default();
    format!("filter {place} of the manifest is another one in the code")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::plugin::PluginLimits;
    use crate::plugin::nest_folder::{self, DecoderChoice};
    use nuthatch_registry::BundleBuilder;
    use std::collections::BTreeMap;

    fn files() -> BTreeMap<String, Vec<u8>> {
        let toml = "[nest]\nname = \"t\"\nversion = \"1.0.0\"\nchain = \"mainnet\"\n[[contracts]]\nalias = \"t\"\n\
                    address = \"0x00000000000000000000000000000000000000aa\"\nstart_block = 1\nabi = \"a.json\"\n";
        let abi = r#"[{"type":"event","name":"E","inputs":[{"name":"value","type":"uint256","indexed":false}]}]"#;
        BTreeMap::from([("nest.toml".to_owned(), toml.into()), ("a.json".to_owned(), abi.into())])
    }

    #[test]
    fn manifest_and_code_must_agree_and_the_difference_is_named() {
        let host = PluginHost::new(PluginLimits::default()).unwrap();
        let built = nest_folder::build_files(&host, &files(), DecoderChoice::Upgrade).unwrap();
        let loaded = load_bundle(&host, &built.bytes).unwrap();
        assert_eq!(loaded.bundle.hash(), built.bundle.hash());

        type Change = fn(&mut Manifest);
        let changes: [(Change, &str); 5] = [
            (|manifest| drop(manifest.tables.pop()), "the manifest lists 0 tables, the code 1"),
            (|manifest| manifest.tables[0].name = "t__f".into(), "table 't__f' of the manifest is 't__e' in the code"),
            (
                |manifest| manifest.tables[0].columns[0].ty = "uint128".parse().unwrap(),
                "table 't__e' has column 'value' uint128 in the manifest and 'value' uint256 in the code",
            ),
            (|manifest| manifest.tables[0].doc = "?".into(), "table 't__e' has another doc in the code"),
            (|manifest| manifest.filters[0].start_block = 9, "filter 0 of the manifest is another one in the code"),
        ];
        for (change, difference) in changes {
            let mut manifest = built.bundle.manifest().clone();
            change(&mut manifest);
            let component = built.bundle.component().unwrap();
            let mut builder = BundleBuilder::new(component, manifest, built.bundle.plan().to_vec());
            builder.files = built.bundle.files().map(|(path, bytes)| (path.clone(), bytes.to_vec())).collect();
            let error = load_bundle(&host, &builder.build().unwrap()).unwrap_err();
            assert!(error.to_string().contains(difference), "{error}");
        }
    }
}
