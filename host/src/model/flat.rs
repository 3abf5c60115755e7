//! Hashes and addresses as the plain bytes they are.

use super::{Address, B256};

/// The bytes of hashes that lie one after the other, 32 each, without a copy.
pub fn hash_bytes(hashes: &[B256]) -> &[u8] {
    // SAFETY: `B256` is `#[repr(transparent)]` over `[u8; 32]`: same size, alignment 1, every byte initialised. The
    // slice covers exactly the memory of the one borrowed, for as long.
    let arrays: &[[u8; 32]] = unsafe { std::slice::from_raw_parts(hashes.as_ptr().cast(), hashes.len()) };
    arrays.as_flattened()
}

/// The bytes of addresses that lie one after the other, 20 each, without a copy.
pub fn address_bytes(addresses: &[Address]) -> &[u8] {
    // SAFETY: `Address` is `#[repr(transparent)]` over `FixedBytes<20>`, which is so over `[u8; 20]`; as above.
    let arrays: &[[u8; 20]] = unsafe { std::slice::from_raw_parts(addresses.as_ptr().cast(), addresses.len()) };
    arrays.as_flattened()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_each_value_in_order() {
        let hashes = [B256::repeat_byte(1), B256::with_last_byte(9), B256::ZERO];
        assert_eq!(hash_bytes(&hashes), hashes.iter().flat_map(|hash| hash.0).collect::<Vec<_>>());
        let addresses = [Address::repeat_byte(7), Address::with_last_byte(3)];
        assert_eq!(address_bytes(&addresses), addresses.iter().flat_map(|address| address.0.0).collect::<Vec<_>>());
        assert!(hash_bytes(&[]).is_empty() && address_bytes(&[]).is_empty());
    }
}
