//! Ticks and square-root prices, in integers: `sqrt(1.0001)^tick * 2^96`.

use alloy_primitives::{I256, U256};

/// Square-root prices of the ticks from `-RANGE` to `RANGE`.
#[derive(Clone)]
pub struct Prices(Vec<U256>);

pub const RANGE: i32 = 3_000;

impl Prices {
    pub fn new() -> Self {
        let one = U256::from(1) << 96;
        // The square root of 1.0001 with 96 bits behind the point.
        let ratio: U256 = (U256::from(10_001) << 192) / U256::from(10_000);
        let step = ratio.root(2);
        let mut up = vec![one];
        for place in 0..RANGE as usize {
            up.push((up[place] * step) >> 96);
        }
        let down = up.iter().skip(1).map(|price| (U256::from(1) << 192) / price);
        let mut all: Vec<U256> = down.collect();
        all.reverse();
        all.extend(up);
        Prices(all)
    }

    pub fn sqrt_price(&self, tick: i32) -> U256 {
        self.0[(tick + RANGE) as usize]
    }

    /// What a move of the price does to the pool's two balances: one goes up, the other down.
    pub fn amounts(&self, liquidity: U256, from: i32, to: i32) -> (I256, I256) {
        let (a, b) = (self.sqrt_price(from), self.sqrt_price(to));
        let scaled = liquidity << 96;
        let amount0 = I256::from_raw(scaled / b) - I256::from_raw(scaled / a);
        let amount1 = I256::from_raw((liquidity * b) >> 96) - I256::from_raw((liquidity * a) >> 96);
        (amount0, amount1)
    }
}
