//! What a version number says about a change.

use std::fmt;

use semver::Version;

use super::Change;

/// The part of the version number that has to grow. Ordered: a larger bump also says what a smaller one says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bump {
    /// Nothing that readers can use is new.
    Patch,
    /// Something is new, nothing breaks.
    Minor,
    /// Something breaks.
    Major,
}

impl Bump {
    /// Whether the step from `old` to `new` is at least this bump. Below 1.0.0 the minor number says what breaks and
    /// the patch number all else, as Cargo counts; a pre-release promises nothing, so any later version may follow it.
    pub fn is_made_by(self, old: &Version, new: &Version) -> bool {
        if new <= old {
            return false;
        }
        if !old.pre.is_empty() || new.major > old.major {
            return true;
        }
        match self {
            Bump::Patch => true,
            Bump::Minor => old.major == 0 || new.minor > old.minor,
            Bump::Major => old.major == 0 && new.minor > old.minor,
        }
    }
}

impl fmt::Display for Bump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bump::Patch => "patch",
            Bump::Minor => "minor",
            Bump::Major => "major",
        })
    }
}

impl Change {
    /// What the version number has to say about this change alone.
    pub fn bump(&self) -> Bump {
        match self {
            Change::TableAdded { .. }
            | Change::ColumnAdded { .. }
            | Change::ColumnNotNull { .. }
            | Change::ColumnsReordered { .. }
            | Change::ViewAdded { .. }
            | Change::SecretAdded { .. } => Bump::Minor,
            Change::ViewChanged { .. }
            | Change::FiltersChanged
            | Change::CodeChanged
            | Change::SecretRemoved { .. } => Bump::Patch,
        }
    }
}
