//! Which contract an address belongs to: one list over all contracts, which is searched where it lies in the plan's
//! bytes, so that a nest of many addresses costs nothing per batch.

use std::borrow::Cow;

/// An address, then the place of its contract as 4 bytes, least significant first.
type Entry = [u8; 24];

/// The addresses of all contracts, in the order of [`key`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners<'p>(pub(super) Cow<'p, [Entry]>);

/// What addresses are ordered by: their bytes as numbers that wasm reads without turning them round.
#[inline]
fn key(address: &[u8]) -> (u64, u64, u32) {
    let (lanes, rest) = address.as_chunks();
    let low = rest.first_chunk().copied().unwrap_or_default();
    match lanes {
        [first, second, ..] => (u64::from_le_bytes(*first), u64::from_le_bytes(*second), u32::from_le_bytes(low)),
        _ => (0, 0, 0),
    }
}

fn contract(entry: &Entry) -> u32 {
    entry.last_chunk().map_or(0, |place| u32::from_le_bytes(*place))
}

impl Owners<'_> {
    /// Of addresses with the places of their contracts.
    pub fn new(owned: impl IntoIterator<Item = ([u8; 20], u32)>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for (address, contract) in owned {
            let mut entry = [0; 24];
            entry[..20].copy_from_slice(&address);
            entry[20..].copy_from_slice(&contract.to_le_bytes());
            entries.push(entry);
        }
        entries.sort_unstable_by_key(|entry| key(&entry[..20]));
        Owners(Cow::Owned(entries))
    }

    /// The place of the contract that has this address.
    pub fn find(&self, address: &[u8; 20]) -> Option<u32> {
        let wanted = key(address);
        let place = self.0.partition_point(|entry| key(&entry[..20]) < wanted);
        self.0.get(place).filter(|entry| key(&entry[..20]) == wanted).map(contract)
    }

    /// An address that two entries have, with the places of both contracts.
    pub fn twice(&self) -> Option<([u8; 20], u32, u32)> {
        let pair = self.0.windows(2).find(|pair| pair[0][..20] == pair[1][..20])?;
        let address = pair[0].first_chunk().copied().unwrap_or_default();
        Some((address, contract(&pair[0]), contract(&pair[1])))
    }

    /// Whether the entries are in order, which [`Owners::find`] rests on.
    pub fn in_order(&self) -> bool {
        self.0.is_sorted_by_key(|entry| key(&entry[..20]))
    }

    /// The addresses of each of so many contracts, sorted. None where an entry names a contract beyond them.
    pub fn by_contract(&self, contracts: usize) -> Option<Vec<Vec<[u8; 20]>>> {
        let mut lists = vec![Vec::new(); contracts];
        for entry in self.0.iter() {
            let address = entry.first_chunk().copied().unwrap_or_default();
            lists.get_mut(contract(entry) as usize)?.push(address);
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        Some(lists)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_address_finds_its_contract_and_no_other_does() {
        let address = |number: u32| {
            let mut address = [0; 20];
            // Runs of equal lanes, so that each of the three decides for some.
            address[number as usize % 20] = number as u8;
            address[19 - number as usize % 7] ^= (number >> 5) as u8;
            address
        };
        let mut owned: Vec<([u8; 20], u32)> = (0..500).map(|number| (address(number), number % 9)).collect();
        owned.sort_unstable();
        owned.dedup_by_key(|(address, _)| *address);
        let (some, others): (Vec<_>, Vec<_>) = owned.iter().partition(|(address, _)| address[1] % 2 == 0);
        let owners = Owners::new(some.clone());
        assert!(owners.in_order() && owners.twice().is_none());
        assert!(some.iter().all(|(address, contract)| owners.find(address) == Some(*contract)));
        assert!(!others.is_empty() && others.iter().all(|(address, _)| owners.find(address).is_none()));
        let lists = owners.by_contract(9).unwrap();
        assert_eq!(lists.iter().map(Vec::len).sum::<usize>(), some.len());
        assert!(lists.iter().all(|list| list.is_sorted()));
        assert!(owners.by_contract(8).is_none());
        assert_eq!(Owners::new([]).find(&[0; 20]), None);
        assert_eq!(Owners::new([([5; 20], 1), ([5; 20], 2)]).twice(), Some(([5; 20], 1, 2)));
    }
}
