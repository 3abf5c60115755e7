//! The data identity: BLAKE3 over all of a bundle that can change decoded rows.
//!
//! Inside: the segment format, the chain, the version of the guest interface, the component without its custom
//! sections (names, producers and debug information of inner modules do not count), the plan, contracts, filters, and
//! each table's name with the name, type and nullability of its columns, in order.
//!
//! Outside: name and version of the nest, views and folds, files, secrets, docs of tables and columns (they are read by
//! people, no row holds them), the kind of code (the code itself is inside), and the budget: it decides whether a call
//! ends, not what rows it gives, and a nest that was stopped by a small budget must go on with the rows that it has.

use blake3::Hasher;

use crate::bundle::{BundleError, code_alone};
use crate::{DataIdentity, Manifest};

/// The number of the rule that cuts segments and of the writer that makes their bytes.
pub const SEGMENT_FORMAT: u32 = 1;

/// The identity of the rows that this component makes of this manifest and plan. The component may be a whole bundle:
/// custom sections do not count.
pub fn data_identity(manifest: &Manifest, component: &[u8], plan: &[u8]) -> Result<DataIdentity, BundleError> {
    Ok(data_identity_of_code(manifest, &code_alone(component)?, plan))
}

/// As [`data_identity`], of a component that has no custom sections any more.
pub(crate) fn data_identity_of_code(manifest: &Manifest, code: &[u8], plan: &[u8]) -> DataIdentity {
    let mut into = Encoder(Hasher::new());
    into.bytes(b"nuthatch data identity 1");
    into.number(SEGMENT_FORMAT.into());
    into.number(manifest.chain_id);
    into.text(&manifest.world.to_string());
    into.bytes(code);
    into.bytes(plan);
    into.list(&manifest.contracts, |into, contract| {
        into.text(&contract.alias);
        into.list(&contract.addresses, |into, address| into.bytes(&address.0));
        into.number(contract.start_block);
    });
    into.list(&manifest.filters, |into, filter| {
        into.list(&filter.addresses, |into, address| into.text(address));
        into.list(&filter.topics, |into, topic| into.text(topic));
        into.number(filter.start_block);
    });
    into.list(&manifest.tables, |into, table| {
        into.text(&table.name);
        into.list(&table.columns, |into, column| {
            into.text(&column.name);
            into.text(&column.ty.to_string());
            into.number(column.nullable.into());
        });
    });
    DataIdentity(*into.0.finalize().as_bytes())
}

/// Numbers as 8 bytes, little-endian; texts, bytes and lists behind their length. No two values share an encoding.
struct Encoder(Hasher);

impl Encoder {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }
}

#[cfg(test)]
mod tests;
