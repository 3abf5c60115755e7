//! Headers, from `eth_getBlockBy…` without transactions.

use serde::{Deserialize, Deserializer};

use crate::model::{BlockNumber, Header};

use super::hex::{Bytes0x, HashText, QuantityText};

/// The fields that are read of a block.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::chain) struct RawHeader {
    number: QuantityText,
    hash: HashText,
    parent_hash: HashText,
    timestamp: QuantityText,
    #[serde(default)]
    logs_bloom: Option<Bytes0x>,
}

impl RawHeader {
    pub(in crate::chain) fn into_header(self) -> Result<Header, &'static str> {
        let bloom = match self.logs_bloom {
            None => None,
            Some(Bytes0x(bytes)) => {
                let bytes: [u8; 256] = bytes.try_into().map_err(|_| "logsBloom is not 256 bytes")?;
                Some(Box::new(alloy_primitives::Bloom::from(bytes)))
            }
        };
        Ok(Header {
            number: BlockNumber(self.number.0),
            hash: self.hash.0,
            parent_hash: self.parent_hash.0,
            timestamp: self.timestamp.0,
            logs_bloom: bloom,
        })
    }
}

/// A header, or null.
pub(in crate::chain) struct OptionalHeader(pub Option<Header>);

impl<'de> Deserialize<'de> for OptionalHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Option::<RawHeader>::deserialize(deserializer)?;
        let header = raw.map(RawHeader::into_header).transpose().map_err(serde::de::Error::custom)?;
        Ok(OptionalHeader(header))
    }
}
