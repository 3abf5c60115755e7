//! What the node says to one request.

use alloy_primitives::{Address, B256, hex};
use serde_json::{Value, json};

use super::chain::{MockBlock, MockChain, MockLog};
use super::fault::Fault;

/// An answer, or a refusal of the whole HTTP request.
pub(super) enum Answer {
    Result(Value),
    Error(i64, String),
    Status(u16),
}

/// What the faults of one call let through.
pub(super) struct Node<'a> {
    pub chain: &'a MockChain,
    pub faults: &'a [Fault],
}

impl Node<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    fn lag(&self) -> u64 {
        self.faults
            .iter()
            .find_map(|fault| if let Fault::Lag(blocks) = fault { Some(*blocks) } else { None })
            .unwrap_or(0)
    }

    /// The height that the node admits to.
    fn height(&self) -> u64 {
        self.chain.head().number.0.saturating_sub(self.lag())
    }

    pub fn answer(&self, method: &str, params: &Value) -> Answer {
        match method {
            "eth_chainId" => Answer::Result(quantity(self.chain_id())),
            "eth_blockNumber" => Answer::Result(quantity(self.height())),
            "eth_getBlockByNumber" => self.block_by_number(&params[0]),
            "eth_getBlockByHash" => self.block_by_hash(&params[0]),
            "eth_getLogs" => self.logs(&params[0]),
            "eth_getCode" => self.code(params),
            _ => Answer::Error(-32601, format!("the method {method} does not exist")),
        }
    }

    fn chain_id(&self) -> u64 {
        let other = self.faults.iter().find_map(|fault| if let Fault::ChainId(id) = fault { Some(*id) } else { None });
        other.unwrap_or(self.chain.chain_id().0)
    }

    fn block_by_number(&self, which: &Value) -> Answer {
        let number = match which.as_str() {
            Some("latest") => {
                let fall =
                    self.faults.iter().find_map(|f| if let Fault::FallingHead(by) = f { Some(*by) } else { None });
                self.height().saturating_sub(fall.unwrap_or(0))
            }
            Some("finalized") if self.has(Fault::NoFinalizedTag) => {
                return Answer::Error(-32602, "invalid block tag".into());
            }
            Some("finalized") => self.height().saturating_sub(self.chain.finality()),
            _ => match number_of(which) {
                Some(number) => number,
                None => return Answer::Error(-32602, "invalid block number".into()),
            },
        };
        let block = self.chain.block(number).filter(|_| number <= self.height());
        self.block_json(block)
    }

    fn block_by_hash(&self, which: &Value) -> Answer {
        let block = hash_of(which).and_then(|hash| self.chain.block_of(hash));
        let known = block.filter(|block| block.header.number.0 <= self.height() && !self.has(Fault::UnknownHash));
        self.block_json(known)
    }

    fn block_json(&self, block: Option<MockBlock>) -> Answer {
        let Some(MockBlock { header, .. }) = block.filter(|_| !self.has(Fault::NullHeader)) else {
            return match self.has(Fault::UnknownInWords) {
                true => Answer::Error(-32000, "header not found".into()),
                false => Answer::Result(Value::Null),
            };
        };
        let parent = if self.has(Fault::BrokenParents) { B256::repeat_byte(0x66) } else { header.parent_hash };
        let mut json = json!({
            "number": quantity(header.number.0),
            "hash": format!("{:#x}", header.hash),
            "parentHash": format!("{parent:#x}"),
            "timestamp": quantity(header.timestamp),
            "logsBloom": header.logs_bloom.map(|bloom| hex::encode_prefixed(bloom.as_slice())),
            "transactions": [],
        });
        if self.has(Fault::NoBloom) {
            json["logsBloom"] = Value::Null;
        }
        Answer::Result(json)
    }

    fn code(&self, params: &Value) -> Answer {
        if self.has(Fault::NoState) {
            return Answer::Error(-32000, "missing trie node".into());
        }
        let (address, number) = (params[0].as_str().unwrap_or_default(), number_of(&params[1]).unwrap_or(0));
        let place = self.chain.contracts().iter().position(|contract| format!("{contract:#x}") == address);
        // The n-th token is deployed at block 10 × n.
        let there = place.is_some_and(|place| number >= 10 * place as u64);
        Answer::Result(json!(if there { "0x6001" } else { "0x" }))
    }

    fn logs(&self, filter: &Value) -> Answer {
        let contracts: Vec<Address> = strings(&filter["address"]).iter().filter_map(|text| text.parse().ok()).collect();
        let topics: Vec<B256> = strings(&filter["topics"][0]).iter().filter_map(|text| text.parse().ok()).collect();
        let blocks = match hash_of(&filter["blockHash"]) {
            Some(hash) => {
                let known = self.chain.block_of(hash).filter(|block| block.header.number.0 <= self.height());
                match known {
                    _ if self.has(Fault::UnknownHash) => Vec::new(),
                    Some(block) => vec![block],
                    None => return Answer::Error(-32000, "unknown block".into()),
                }
            }
            None => {
                let (Some(first), Some(last)) = (number_of(&filter["fromBlock"]), number_of(&filter["toBlock"])) else {
                    return Answer::Error(-32602, "invalid range".into());
                };
                if let Some(refused) = self.refuse_blocks(first, last) {
                    return refused;
                }
                (first..=last.min(self.height())).filter_map(|number| self.chain.block(number)).collect()
            }
        };
        if let Some(refused) = self.refuse_contracts(contracts.len()) {
            return refused;
        }
        let wanted = |log: &MockLog| {
            (contracts.is_empty() || contracts.contains(&log.address))
                && (topics.is_empty() || log.topics.first().is_some_and(|topic| topics.contains(topic)))
        };
        let mut found: Vec<Value> = Vec::new();
        for block in &blocks {
            found.extend(block.logs.iter().filter(|log| wanted(log)).map(|log| self.log_json(block, log, false)));
        }
        if let Some(Fault::MaxLogs(most)) = self.faults.iter().find(|fault| matches!(fault, Fault::MaxLogs(_)))
            && found.len() > *most
        {
            return Answer::Error(-32005, format!("query returned more than {most} results"));
        }
        self.spoil(&mut found, &blocks);
        Answer::Result(Value::Array(found))
    }

    fn refuse_blocks(&self, first: u64, last: u64) -> Option<Answer> {
        let asked = (last + 1).saturating_sub(first);
        self.faults.iter().find_map(|fault| match *fault {
            Fault::MaxBlocks(most) if asked > most => {
                Some(Answer::Error(-32000, format!("exceed maximum block range: {most}")))
            }
            Fault::MaxBlocksStatus(status, most) if asked > most => Some(Answer::Status(status)),
            Fault::MaxBlocksUnknown(most) if asked > most => Some(Answer::Error(-32000, "computer says no".into())),
            Fault::SuggestsTheSame(most) if asked > most => {
                let range = format!("[{first:#x}, {last:#x}]");
                Some(Answer::Error(-32005, format!("query returned more than 10000 results. Try with {range}")))
            }
            _ => None,
        })
    }

    fn refuse_contracts(&self, count: usize) -> Option<Answer> {
        self.faults.iter().find_map(|fault| match *fault {
            Fault::MaxAddresses(most) if count > most => Some(Answer::Error(-32000, "too many addresses".into())),
            Fault::MaxAddressesUnknown(most) if count > most => Some(Answer::Error(-32000, "computer says no".into())),
            _ => None,
        })
    }

    fn log_json(&self, block: &MockBlock, log: &MockLog, removed: bool) -> Value {
        let mut json = json!({
            "address": format!("{:#x}", log.address),
            "topics": log.topics.iter().map(|topic| format!("{topic:#x}")).collect::<Vec<_>>(),
            "data": hex::encode_prefixed(&log.data),
            "blockNumber": quantity(block.header.number.0),
            "blockHash": format!("{:#x}", block.header.hash),
            "blockTimestamp": quantity(block.header.timestamp),
            "transactionHash": format!("{:#x}", log.tx_hash),
            "transactionIndex": quantity(log.tx_index.into()),
            "logIndex": quantity(log.log_index),
            "removed": removed,
        });
        if self.has(Fault::NoTimestamps)
            && let Some(fields) = json.as_object_mut()
        {
            fields.remove("blockTimestamp");
        }
        if self.has(Fault::ZeroTimestamps) {
            json["blockTimestamp"] = json!("0x0");
        }
        if self.has(Fault::NullTimestamps) {
            json["blockTimestamp"] = Value::Null;
        }
        if self.has(Fault::OrphanLogs) {
            json["blockHash"] = json!(format!("{:#x}", B256::repeat_byte(0x77)));
        }
        json
    }

    /// Does to the answer what the faults say.
    fn spoil(&self, found: &mut Vec<Value>, blocks: &[MockBlock]) {
        if self.has(Fault::EmptyLogs) {
            found.clear();
        }
        if self.has(Fault::Removed) {
            for block in blocks {
                let lost = self.chain.orphan(block.header.number.0).unwrap_or_else(|| block.clone());
                found.extend(lost.logs.iter().map(|log| self.log_json(&lost, log, true)));
            }
        }
        if self.has(Fault::Unsorted) {
            found.reverse();
        }
        if self.has(Fault::Duplicated) {
            found.extend(found.clone());
        }
        let Some(mut odd) = found.first().cloned() else { return };
        if self.has(Fault::Conflicting) {
            odd["data"] = json!("0xbad0");
            found.push(odd);
        } else if self.has(Fault::StrangeContract) {
            odd["address"] = json!(format!("{:#x}", Address::repeat_byte(0x55)));
            odd["logIndex"] = json!("0x99");
            found.push(odd);
        } else if self.has(Fault::StrangeBlock) {
            odd["blockNumber"] = json!("0xffffff");
            found.push(odd);
        }
    }
}

fn quantity(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

fn number_of(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn hash_of(value: &Value) -> Option<B256> {
    value.as_str()?.parse().ok()
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}
