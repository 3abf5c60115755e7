//! Which objects nobody can need any more.

use std::collections::{HashMap, HashSet};

use super::{Listed, store_folder};
use crate::store::{DroppedKey, KEY_GRACE, ReadTxn, StoreTime};

/// An object to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbage {
    /// The object.
    pub object: Listed,
    /// Whether the catalogue named it once; else an upload that was never committed.
    pub was_named: bool,
}

/// What a store's catalogue says about keys.
#[derive(Clone, Debug, Default)]
pub struct KeysInUse {
    /// Keys that it names.
    pub named: HashSet<String>,
    /// Keys that it named once.
    pub dropped: Vec<DroppedKey>,
}

impl KeysInUse {
    /// Reads the catalogue. Has to begin after the objects were listed: what is committed in between is then named.
    pub async fn read(read: &mut dyn ReadTxn) -> Result<KeysInUse, crate::store::StoreError> {
        let mut named = HashSet::new();
        for dataset in read.state().await?.datasets {
            named.extend(read.segments(dataset.id).await?.into_iter().map(|segment| segment.key));
        }
        Ok(KeysInUse { named, dropped: read.dropped_keys().await? })
    }

    /// The objects that may be deleted: a day after the catalogue stopped naming them, or, where it never did, a day
    /// after they were written. An upload that is under way is younger, and refused when it is not.
    pub fn garbage(&self, listed: Vec<Listed>, now: StoreTime) -> Vec<Garbage> {
        let dropped: HashMap<&str, StoreTime> =
            self.dropped.iter().map(|it| (it.key.as_str(), it.dropped_at)).collect();
        let unnamed = listed.into_iter().filter(|object| !self.named.contains(&object.key));
        unnamed
            .filter_map(|object| {
                let since = dropped.get(object.key.as_str()).copied();
                let unused = now.since(since.unwrap_or(StoreTime(object.written_at)));
                (unused >= KEY_GRACE).then_some(Garbage { object, was_named: since.is_some() })
            })
            .collect()
    }

    /// Dropped keys that need not be known any longer: a day later there is no object of theirs, be it that it was
    /// deleted or that it lies in another store's folder.
    pub fn gone(&self, there: &HashSet<String>, now: StoreTime) -> Vec<String> {
        let old = self.dropped.iter().filter(|dropped| now.since(dropped.dropped_at) >= KEY_GRACE);
        old.map(|dropped| &dropped.key).filter(|key| !there.contains(*key)).cloned().collect()
    }
}

/// The folder of a store's objects, which is all that its gc may look at.
pub async fn folder_of(read: &mut dyn ReadTxn) -> Result<String, crate::store::StoreError> {
    Ok(store_folder(read.store_id().await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3_600 * 1_000;

    fn object(key: &str, written_at: i64) -> Listed {
        Listed { key: key.to_owned(), size: 1, written_at }
    }

    #[test]
    fn only_what_nobody_named_for_a_day_is_garbage() {
        let dropped = |key: &str, at: i64| DroppedKey { key: key.to_owned(), dropped_at: StoreTime(at) };
        let keys = KeysInUse {
            named: HashSet::from(["named".to_owned()]),
            dropped: vec![dropped("old", DAY), dropped("late", DAY + 1)],
        };
        let listed = ["named", "old", "late", "orphan"].map(|key| object(key, 0));
        let young = object("young orphan", DAY + 1);
        // The last millisecond of the day counts.
        let now = StoreTime(2 * DAY);
        let found = keys.garbage(listed.into_iter().chain([young]).collect(), now);
        let found: Vec<_> = found.iter().map(|it| (it.object.key.as_str(), it.was_named)).collect();
        assert_eq!(found, [("old", true), ("orphan", false)]);
        // Nothing of them is listed any more.
        assert_eq!(keys.gone(&HashSet::new(), now), ["old"]);
        assert_eq!(keys.gone(&HashSet::from(["old".to_owned()]), now), [""; 0]);
    }

    #[test]
    fn a_clock_that_stepped_back_deletes_nothing() {
        let keys = KeysInUse::default();
        assert_eq!(keys.garbage(vec![object("orphan", 5 * DAY)], StoreTime(DAY)), []);
    }
}
