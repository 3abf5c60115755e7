//! What the tests of the chain room share: a source over mock servers, and what it should bring.

use std::time::Duration;

use nuthatch::chain::{
    Backoff, ChainError, ChainSpec, EndpointConfig, LogFilters, RangeBounds, RetryPolicy, RpcConfig, RpcLimits,
    RpcSource, Source, Tip,
};
use nuthatch::model::{BlockNumber, BlockRange, BlockRef, ChainId, LogBatch, LogFilter};

use crate::mock_rpc::{APPROVAL, MockChain, MockRpc, TRANSFER};

/// Height of the mock chain in most tests.
pub const HEAD: u64 = 400;

/// Short waits, small requests.
pub fn limits() -> RpcLimits {
    RpcLimits {
        call_timeout: Duration::from_secs(20),
        retry: RetryPolicy {
            attempts: 8,
            backoff: Backoff { base: Duration::from_millis(4), ceiling: Duration::from_millis(40) },
        },
        range: RangeBounds { first: 64, max: 1_000, logs: 20_000 },
        header_batch: 10,
        ..RpcLimits::default()
    }
}

/// A source over these endpoints.
pub async fn pool(endpoints: Vec<EndpointConfig>, limits: RpcLimits) -> Result<RpcSource, ChainError> {
    RpcSource::connect(RpcConfig { chain: ChainSpec::of(ChainId(31_337)), endpoints, limits }).await
}

/// A source over these servers, which must all be well.
pub async fn connect(rpcs: &[&MockRpc]) -> RpcSource {
    pool(rpcs.iter().map(|rpc| rpc.endpoint()).collect(), limits()).await.expect("the mock is well")
}

/// Transfers of two tokens, and approvals of a third.
pub fn filters(chain: &MockChain) -> LogFilters {
    let tokens: Vec<String> = chain.contracts().iter().map(|token| format!("{token:#x}")).collect();
    let filter = |addresses: &[String], topic| LogFilter {
        addresses: addresses.to_vec(),
        topics: vec![format!("{topic:#x}")],
        start_block: 3,
    };
    LogFilters::parse(&[filter(&tokens[..2], TRANSFER), filter(&tokens[2..3], APPROVAL)]).expect("both are filters")
}

/// Blocks of a range.
pub fn range(first: u64, last: u64) -> BlockRange {
    BlockRange { first: BlockNumber(first), last: BlockNumber(last) }
}

/// What an index of these blocks holds, straight from the chain.
pub fn wanted(chain: &MockChain, first: u64, last: u64) -> LogBatch {
    filters(chain).select_owned(chain.logs(first, last))
}

/// A block of the chain.
pub fn at(chain: &MockChain, number: u64) -> BlockRef {
    chain.header(number).expect("the chain reaches that far").block_ref()
}

/// The three ways of asking for logs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ask {
    /// Final blocks.
    Final,
    /// A window above the final block, by number.
    LongTip,
    /// The last two blocks, by hash.
    ShortTip,
}

impl Ask {
    /// All three.
    pub const EVERYWHERE: [Ask; 3] = [Ask::Final, Ask::LongTip, Ask::ShortTip];
    /// Both above the final block.
    pub const TIP: [Ask; 2] = [Ask::LongTip, Ask::ShortTip];

    /// The blocks that it asks for.
    pub fn blocks(self, chain: &MockChain) -> (u64, u64) {
        match self {
            Ask::Final => (0, chain.final_block().number.0),
            Ask::LongTip => (chain.final_block().number.0 + 1, HEAD),
            Ask::ShortTip => (HEAD - 1, HEAD),
        }
    }

    /// Asks.
    pub async fn of(self, source: &RpcSource, chain: &MockChain) -> Result<LogBatch, ChainError> {
        let (first, last) = self.blocks(chain);
        if self == Ask::Final {
            return source.logs(&filters(chain), range(first, last)).await;
        }
        let parent = at(chain, first - 1);
        match source.tip_window(&filters(chain), parent, BlockNumber(last)).await? {
            Tip::Window(window) => {
                let expected: Vec<_> = (first..=last).map(|number| at(chain, number)).collect();
                assert_eq!(window.headers.iter().map(|header| header.block_ref()).collect::<Vec<_>>(), expected);
                Ok(window.logs)
            }
            Tip::NotLinked(not_linked) => panic!("{not_linked:?}"),
        }
    }
}
