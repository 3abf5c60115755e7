//! Yank, unyank and advisory: appended, never changed.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use semver::Version;

use super::layout::seq_of;
use super::{Created, Key, Registry, RegistryError, Shelf};
use crate::record::is_reason;
use crate::{MAX_REASON, MAX_RECORD_BYTES, NestName, Notice, NoticeKind, Timestamp};

/// Notices that are read at once.
const AT_ONCE: usize = 8;
/// How often a number may be lost to somebody else before it is given up.
const TRIES: usize = 100;

/// What all notices about a nest come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The last yank or unyank of each version.
    last: BTreeMap<Version, Notice>,
    advisories: BTreeMap<Version, Vec<Notice>>,
    /// The highest number.
    seq: u32,
}

impl Standing {
    /// Notices in the order of their numbers.
    fn of(notices: Vec<Notice>) -> Self {
        let mut standing = Standing::default();
        notices.into_iter().for_each(|notice| standing.add(notice));
        standing
    }

    fn add(&mut self, notice: Notice) {
        self.seq = notice.seq;
        match notice.kind {
            NoticeKind::Yank | NoticeKind::Unyank => drop(self.last.insert(notice.version.clone(), notice)),
            NoticeKind::Advisory => self.advisories.entry(notice.version.clone()).or_default().push(notice),
        }
    }

    /// The notice that yanked this version, if it is yanked.
    pub fn yanked(&self, version: &Version) -> Option<&Notice> {
        self.last.get(version).filter(|notice| notice.kind == NoticeKind::Yank)
    }

    /// What else is said about this version, oldest first.
    pub fn advisories(&self, version: &Version) -> &[Notice] {
        self.advisories.get(version).map(Vec::as_slice).unwrap_or_default()
    }

    /// The notice that says already what another one would say, if there is one.
    fn says(&self, version: &Version, kind: NoticeKind, reason: &str) -> Option<&Notice> {
        match kind {
            NoticeKind::Yank | NoticeKind::Unyank => self.last.get(version).filter(|notice| notice.kind == kind),
            NoticeKind::Advisory => self.advisories(version).iter().find(|notice| notice.reason == reason),
        }
    }
}

/// Why a notice was not written.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// No such version.
    #[error(
        "there is no version {version} of '{name}' in the registry {registry}; 'nuthatch bundle list {name}' shows which there are"
    )]
    NoVersion {
        /// The nest.
        name: NestName,
        /// The version.
        version: Version,
        /// The registry.
        registry: String,
    },
    /// A reason of more than one line, or a long one.
    #[error("the reason must be one line of at most {MAX_REASON} bytes")]
    Reason,
    /// Others kept taking the next number, or there is none.
    #[error("the notice about '{name}' found no free number in the registry {registry}; try again")]
    NoNumber {
        /// The nest.
        name: NestName,
        /// The registry.
        registry: String,
    },
}

impl dyn Registry + '_ {
    /// What the notices about a nest come to. One that cannot be read is an error: who knows what it would have said.
    pub async fn standing(&self, name: &NestName) -> Result<Standing, RegistryError> {
        let files = self.list(&Shelf::Notices(name.clone())).await?;
        let mut seqs: Vec<u32> = files.iter().filter_map(|file| seq_of(file)).collect();
        seqs.sort_unstable();
        let notices = stream::iter(seqs).map(|seq| self.notice(name, seq)).buffered(AT_ONCE);
        Ok(Standing::of(notices.try_collect().await?))
    }

    /// One notice.
    pub async fn notice(&self, name: &NestName, seq: u32) -> Result<Notice, RegistryError> {
        let key = Key::Notice(name.clone(), seq);
        let bytes = self.read(&key, MAX_RECORD_BYTES).await?;
        Notice::parse(&bytes, name, seq).map_err(|problem| self.refused(&key, problem))
    }

    /// Says something about a version and gives the notice that says it: a new one, or the one that said so before.
    ///
    /// The number is the next free one; who loses it to somebody else reads what was said and takes the one after.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use nuthatch_registry::{NoticeKind, NotifyError, Timestamp};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let registry = nuthatch_registry::open(folder.path().to_str().unwrap())?;
    /// let (name, version) = ("usdc".parse()?, "1.3.0".parse()?);
    /// let yank = registry.notify(&name, &version, NoticeKind::Yank, "wrong sign", Timestamp::now());
    /// assert!(matches!(yank.await, Err(NotifyError::NoVersion { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn notify(
        &self,
        name: &NestName,
        version: &Version,
        kind: NoticeKind,
        reason: &str,
        at: Timestamp,
    ) -> Result<Notice, NotifyError> {
        if !is_reason(reason) {
            return Err(NotifyError::Reason);
        }
        match self.record(name, version).await {
            Ok(_) => {}
            Err(error) if error.is_not_there() => {
                let (name, version, registry) = (name.clone(), version.clone(), self.name().to_owned());
                return Err(NotifyError::NoVersion { name, version, registry });
            }
            Err(error) => return Err(error.into()),
        }
        let mut standing = self.standing(name).await?;
        for _ in 0..TRIES {
            if let Some(said) = standing.says(version, kind, reason) {
                return Ok(said.clone());
            }
            let Some(seq) = standing.seq.checked_add(1) else { break };
            let (nest, version) = (name.clone(), version.clone());
            let notice = Notice { name: nest, seq, kind, version, reason: reason.to_owned(), at };
            let key = Key::Notice(name.clone(), seq);
            match self.create(&key, notice.to_json().into()).await? {
                Created::New => return Ok(notice),
                // Somebody else's, or this one, if an answer was lost and the write tried again: it is read either way.
                Created::Taken => standing.add(self.notice(name, seq).await?),
            }
        }
        Err(NotifyError::NoNumber { name: name.clone(), registry: self.name().to_owned() })
    }
}
