//! The few ABI encodings that the demo's events need, written out by hand.

use alloy_primitives::{Address, B256, I256, U256, keccak256};

pub fn topic0(signature: &str) -> B256 {
    keccak256(signature.as_bytes())
}

pub fn topic(address: Address) -> B256 {
    address.into_word()
}

/// The head of a data part, and the tail that its dynamic values fill.
#[derive(Default)]
pub struct Data {
    head: Vec<Slot>,
}

enum Slot {
    Word(B256),
    Tail(Vec<u8>),
}

impl Data {
    pub fn uint(mut self, value: U256) -> Self {
        self.head.push(Slot::Word(B256::from(value)));
        self
    }

    pub fn int(mut self, value: I256) -> Self {
        self.head.push(Slot::Word(B256::from(value.into_raw())));
        self
    }

    pub fn string(mut self, text: &str) -> Self {
        let mut tail = B256::from(U256::from(text.len())).to_vec();
        tail.extend_from_slice(text.as_bytes());
        tail.resize(tail.len().next_multiple_of(32), 0);
        self.head.push(Slot::Tail(tail));
        self
    }

    /// An array of elements that have no tail of their own, `words` words in all.
    pub fn array(mut self, len: usize, words: impl IntoIterator<Item = B256>) -> Self {
        let mut tail = B256::from(U256::from(len)).to_vec();
        tail.extend(words.into_iter().flat_map(|word| word.0));
        self.head.push(Slot::Tail(tail));
        self
    }

    pub fn finish(self) -> Vec<u8> {
        let mut offset = self.head.len() * 32;
        let (mut head, mut tails) = (Vec::new(), Vec::new());
        for slot in self.head {
            match slot {
                Slot::Word(word) => head.extend(word.0),
                Slot::Tail(tail) => {
                    head.extend(B256::from(U256::from(offset)).0);
                    offset += tail.len();
                    tails.extend(tail);
                }
            }
        }
        head.extend(tails);
        head
    }
}
