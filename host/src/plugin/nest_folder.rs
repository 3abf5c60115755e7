//! From a nest folder to a bundle: nest.toml, ABIs and views in, one file out.
//!
//! The same files give the same bytes. Only what nest.toml names is read; the folder is never walked.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use nuthatch_registry::{
    Bundle, BundleBuilder, BundleError, CodeSource, ContentHash, FilePath, MAX_FILE_BYTES, NestToml, NestTomlError,
    PlanConfigError,
};

use super::{CallError, LoadError, LoadedBundle, Plugin, PluginHost};

/// The standard decoder that this binary carries.
pub const STANDARD_DECODER: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../bundles/dist/abi.wasm"));

const TOML: &str = "nest.toml";
const LOCK: &str = "nest.lock";

/// Where a nest's files come from.
pub trait NestFiles {
    /// What a file holds; [`io::ErrorKind::NotFound`] where it is not there. `path` is relative, with `/` and without
    /// `..`. At most `most` bytes and one are read.
    fn read(&self, path: &str, most: usize) -> io::Result<Vec<u8>>;

    /// The place, for messages; put before a path as it is.
    fn place(&self) -> String;
}

impl NestFiles for Path {
    fn read(&self, path: &str, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.join(path))?.take(most as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn place(&self) -> String {
        format!("{}/", self.display())
    }
}

/// Files in memory, by path.
impl NestFiles for BTreeMap<String, Vec<u8>> {
    fn read(&self, path: &str, _most: usize) -> io::Result<Vec<u8>> {
        self.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn place(&self) -> String {
        String::new()
    }
}

/// Which standard decoder a build takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderChoice {
    /// The one that nest.lock names; without a lock, the one in this binary.
    Locked,
    /// The one in this binary, whatever nest.lock says.
    Upgrade,
}

/// A nest that was built.
pub struct BuiltNest {
    /// The bundle file.
    pub bytes: Arc<[u8]>,
    /// The same, taken apart.
    pub bundle: Bundle,
    /// Its code, loaded. As long as this is kept, loading the bundle does not compile it again.
    pub plugin: Plugin,
    /// What nest.lock has to say, where it does not say so yet.
    pub new_lock: Option<String>,
}

impl BuiltNest {
    /// What runs.
    pub fn into_loaded(self) -> LoadedBundle {
        LoadedBundle { bundle: self.bundle, plugin: self.plugin }
    }
}

impl fmt::Debug for BuiltNest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltNest")
            .field("bundle", &self.bundle)
            .field("new_lock", &self.new_lock)
            .finish_non_exhaustive()
    }
}

/// Why a nest folder gives no bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NestFolderError {
    /// No nest.toml.
    #[error("{place}nest.toml does not exist, so there is no nest here; `nuthatch init ADDRESS` makes one")]
    NoNest {
        /// The folder.
        place: String,
    },
    /// nest.toml is wrong.
    #[error(transparent)]
    Toml(#[from] NestTomlError),
    /// A file that is there and cannot be read.
    #[error("{file} cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file that nest.toml names is not there.
    #[error("{file} does not exist; nest.toml names it as {role}: put the file there, or correct the path")]
    Missing {
        /// The file.
        file: String,
        /// What for.
        role: String,
    },
    /// Larger than a bundle takes.
    #[error("{file} ({role}) is larger than {most} bytes, the most that a bundle takes of one file")]
    TooLarge {
        /// The file.
        file: String,
        /// What for.
        role: String,
        /// The cap.
        most: usize,
    },
    /// Text that is none.
    #[error("{file} is not UTF-8 text; save it as UTF-8")]
    NotText {
        /// The file.
        file: String,
    },
    /// An ABI that cannot be used.
    #[error(transparent)]
    PlanConfig(#[from] PlanConfigError),
    /// A nest with code of its own.
    #[error(
        "{place}nest.toml has [code] crate = \"{folder}\", and this nuthatch builds nests of the standard decoder only; \
         take [code] out, or hand over a built bundle"
    )]
    OwnCode {
        /// The folder of the nest.
        place: String,
        /// The folder of the crate.
        folder: String,
    },
    /// nest.lock is not as it is written.
    #[error("{file} is not a lock file ({reason}); delete it, and the next build writes it anew")]
    BadLock {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// The lock names another decoder.
    #[error(
        "{file} names decoder {locked}, and this nuthatch carries {carried}; build with the nuthatch that made the \
         lock, or take the new decoder with `nuthatch bundle build --upgrade-decoder` (if it decodes differently, the \
         nest is indexed anew)"
    )]
    OtherDecoder {
        /// The file.
        file: String,
        /// Decoder in the lock.
        locked: ContentHash,
        /// Decoder in this binary.
        carried: ContentHash,
    },
    /// The decoder does not load: a broken build of this binary.
    #[error("the standard decoder in this nuthatch does not load: {0}")]
    Load(#[from] LoadError),
    /// The decoder refuses contracts or ABIs.
    #[error("{place}nest.toml cannot be turned into a plan: {source}")]
    Plan {
        /// The folder of the nest.
        place: String,
        /// What the decoder said.
        source: Box<CallError>,
    },
    /// The decoder cannot describe its own plan.
    #[error("the decoder does not describe its own plan: {0}")]
    Describe(CallError),
    /// Nothing to index.
    #[error(
        "{place}nest.toml gives no table: none of its ABIs has an event that could be decoded; give an ABI with events \
         (for a proxy, the implementation's as well), or widen `events`"
    )]
    NoTables {
        /// The folder of the nest.
        place: String,
    },
    /// The parts make no bundle.
    #[error("{place}nest.toml gives no bundle: {source}")]
    Bundle {
        /// The folder of the nest.
        place: String,
        /// What is wrong.
        source: BundleError,
    },
}

/// Builds the nest in a folder with the decoder that its lock names. Compiles and calls guest code: call it where
/// blocking is allowed.
pub fn build(host: &PluginHost, dir: &Path) -> Result<BuiltNest, NestFolderError> {
    build_files(host, dir, DecoderChoice::Locked)
}

/// Builds a nest from wherever its files lie.
pub fn build_files<F: NestFiles + ?Sized>(
    host: &PluginHost,
    nest: &F,
    decoder: DecoderChoice,
) -> Result<BuiltNest, NestFolderError> {
    let place = nest.place();
    let toml = match nest.read(TOML, MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NestFolderError::NoNest { place }),
        read => text(&place, TOML, read)?,
    };
    let toml = NestToml::parse(&toml, &format!("{place}{TOML}"))?;
    if let CodeSource::Crate(folder) = &toml.code {
        return Err(NestFolderError::OwnCode { place, folder: folder.as_str().to_owned() });
    }
    let new_lock = check_lock(nest, decoder)?;
    let files = read_files(nest, &toml)?;
    for view in &toml.views {
        if files.get(&view.sql).is_some_and(|sql| std::str::from_utf8(sql).is_err()) {
            return Err(NestFolderError::NotText { file: format!("{place}{}", view.sql.as_str()) });
        }
    }
    let config = toml.plan_config(&files)?;

    let plugin = host.load(STANDARD_DECODER)?;
    let plan = plugin
        .plan(&config)
        .map_err(|source| NestFolderError::Plan { place: place.clone(), source: Box::new(source) })?;
    let described = plugin.describe(&plan).map_err(NestFolderError::Describe)?;
    if described.tables.is_empty() {
        return Err(NestFolderError::NoTables { place });
    }
    let manifest = toml.manifest(described.tables, described.filters);
    let mut builder = BundleBuilder::new(STANDARD_DECODER.to_vec(), manifest, plan);
    builder.files = files;
    let failed = |source| NestFolderError::Bundle { place: place.clone(), source };
    let bundle = Bundle::parse(&builder.build().map_err(failed)?).map_err(failed)?;
    Ok(BuiltNest { bytes: bundle.bytes().clone(), bundle, plugin, new_lock })
}

/// Writes nest.lock where the build asks for it. Whole or not at all.
pub fn write_lock(dir: &Path, built: &BuiltNest) -> io::Result<()> {
    let Some(lock) = &built.new_lock else {
        return Ok(());
    };
    let unfinished = dir.join(format!(".{LOCK}.{}", std::process::id()));
    let mut file = std::fs::File::create(&unfinished)?;
    file.write_all(lock.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&unfinished, dir.join(LOCK))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    decoder: ContentHash,
}

/// What nest.lock has to say anew, if anything.
fn check_lock<F: NestFiles + ?Sized>(nest: &F, choice: DecoderChoice) -> Result<Option<String>, NestFolderError> {
    let carried = ContentHash::of(STANDARD_DECODER);
    let wanted = format!(
        "# The standard decoder of this nest's builds. Keep this file under version control.\ndecoder = \"{carried}\"\n"
    );
    let file = format!("{}{LOCK}", nest.place());
    let found = match nest.read(LOCK, 4096) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(wanted)),
        read => text(&nest.place(), LOCK, read)?,
    };
    match (toml::from_str::<Lock>(&found), choice) {
        (Ok(lock), _) if lock.decoder == carried => Ok(None),
        (_, DecoderChoice::Upgrade) => Ok(Some(wanted)),
        (Ok(lock), DecoderChoice::Locked) => Err(NestFolderError::OtherDecoder { file, locked: lock.decoder, carried }),
        (Err(error), DecoderChoice::Locked) => {
            Err(NestFolderError::BadLock { file, reason: error.message().to_owned() })
        }
    }
}

fn text(place: &str, path: &str, read: io::Result<Vec<u8>>) -> Result<String, NestFolderError> {
    let file = format!("{place}{path}");
    let bytes = read.map_err(|source| NestFolderError::Read { file: file.clone(), source })?;
    String::from_utf8(bytes).map_err(|_| NestFolderError::NotText { file })
}

/// Every file that nest.toml names.
fn read_files<F: NestFiles + ?Sized>(
    nest: &F,
    toml: &NestToml,
) -> Result<BTreeMap<FilePath, Vec<u8>>, NestFolderError> {
    let mut files = BTreeMap::new();
    let abis = toml.contracts.iter().flat_map(|contract| {
        contract.abis.iter().map(|path| (path, format!("an ABI of contract '{}'", contract.alias)))
    });
    let views = toml.views.iter().map(|view| (&view.sql, format!("the SQL of view '{}'", view.name)));
    let docs = toml.docs.iter().map(|path| (path, "a document".to_owned()));
    for (path, role) in abis.chain(views).chain(docs) {
        if files.contains_key(path) {
            continue;
        }
        let file = format!("{}{}", nest.place(), path.as_str());
        match nest.read(path.as_str(), MAX_FILE_BYTES) {
            Ok(bytes) if bytes.len() > MAX_FILE_BYTES => {
                return Err(NestFolderError::TooLarge { file, role, most: MAX_FILE_BYTES });
            }
            Ok(bytes) => files.insert(path.clone(), bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(NestFolderError::Missing { file, role });
            }
            Err(source) => return Err(NestFolderError::Read { file, source }),
        };
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
