//! The steps of keeping an entry, at each of which a test ends the process.

/// A step that has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    RootMade,
    FolderMade,
    Created,
    Locked,
    HalfWritten,
    Written,
    Synced,
    Renamed,
}

#[cfg(not(test))]
pub(super) fn at(_: Step) {}

/// Of a test's child: the step at which it ends itself as `kill -9` would.
#[cfg(test)]
pub(super) const DIE_AT: &str = "NUTHATCH_TEST_DIE_AT";

#[cfg(test)]
pub(super) fn at(step: Step) {
    if std::env::var(DIE_AT).is_ok_and(|wanted| wanted == format!("{step:?}")) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
