//! The state of the demo's contracts, and what they emit as accounts use them.

use alloy_primitives::{Address, B256, I256, U256, keccak256};

use super::abi::{Data, topic, topic0};
use super::block::Emitted;
use super::price::{Prices, RANGE};
use super::rng::Rng;

/// Accounts that trade.
const ACCOUNTS: usize = 24;
/// Blocks at which the contracts appear.
const TOKEN_FROM: u64 = 3;
const POOL_FROM: u64 = 40;
const PAIR_FROM: u64 = 120;
/// The block of the one unlimited approval.
const UNLIMITED_AT: u64 = 77;

const NOTES: [&str; 6] = [
    "fee goes to the canopy fund",
    "résumé of the first week: quiet",
    "🌰 stored for winter",
    "rebalance, see legs",
    "",
    "a longer note that does not fit into one word of thirty-two bytes, so that its tail spans several of them",
];

/// An address of the demo, by its name.
pub fn account(name: &str) -> Address {
    Address::from_slice(&keccak256(format!("nuthatch demo {name}").as_bytes())[12..])
}

#[derive(Clone)]
pub struct World {
    token: Address,
    pool: Address,
    pair: Address,
    birch: Address,
    accounts: Vec<Address>,
    balances: Vec<U256>,
    pool_balance: U256,
    pair_reserves: (U256, U256),
    tick: i32,
    liquidity: U256,
    prices: Prices,
}

fn acorns(whole: u64) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(18))
}

impl World {
    pub fn new() -> Self {
        World {
            token: account("acorn"),
            pool: account("pool"),
            pair: account("pair"),
            birch: account("birch"),
            accounts: (0..ACCOUNTS).map(|i| account(&format!("account {i}"))).collect(),
            balances: vec![U256::ZERO; ACCOUNTS],
            pool_balance: U256::ZERO,
            pair_reserves: (U256::ZERO, U256::ZERO),
            tick: -20,
            liquidity: acorns(9_000_000),
            prices: Prices::new(),
        }
    }

    /// The transactions of one block.
    pub fn block(&mut self, number: u64, rng: &mut Rng) -> Vec<Vec<Emitted>> {
        let mut transactions = Vec::new();
        match number {
            TOKEN_FROM => transactions.extend((0..8).map(|place| vec![self.mint(place, acorns(250_000))])),
            POOL_FROM => transactions.push(vec![self.fund_pool()]),
            PAIR_FROM => transactions.push(self.fund_pair()),
            UNLIMITED_AT => transactions.push(vec![self.approve(2, U256::MAX)]),
            _ => {}
        }
        if number <= TOKEN_FROM {
            return transactions;
        }
        if rng.chance(30) {
            transactions.extend(self.transfer(rng));
        }
        if rng.chance(4) {
            let (owner, amount) = (rng.below(ACCOUNTS as u64) as usize, acorns(rng.below(5_000)));
            transactions.push(vec![self.approve(owner, amount)]);
        }
        if rng.chance(3) {
            let (to, amount) = (rng.below(ACCOUNTS as u64) as usize, acorns(1 + rng.below(900)));
            transactions.push(vec![self.mint(to, amount)]);
        }
        if number > POOL_FROM && rng.chance(13) {
            transactions.extend(self.pool_swap(rng));
        }
        if number > PAIR_FROM && rng.chance(10) {
            transactions.extend(self.pair_swap(rng));
        }
        if number > PAIR_FROM && rng.chance(2) {
            transactions.push(vec![self.note(rng)]);
        }
        transactions
    }

    fn token_transfer(&self, from: Address, to: Address, value: U256) -> Emitted {
        Emitted {
            address: self.token,
            topics: vec![topic0("Transfer(address,address,uint256)"), topic(from), topic(to)],
            data: Data::default().uint(value).finish(),
        }
    }

    fn mint(&mut self, place: usize, value: U256) -> Emitted {
        self.balances[place] += value;
        self.token_transfer(Address::ZERO, self.accounts[place], value)
    }

    fn approve(&self, owner: usize, value: U256) -> Emitted {
        Emitted {
            address: self.token,
            topics: vec![
                topic0("Approval(address,address,uint256)"),
                topic(self.accounts[owner]),
                topic(if owner.is_multiple_of(2) { self.pool } else { self.pair }),
            ],
            data: Data::default().uint(value).finish(),
        }
    }

    /// An account that has something, and a part of it.
    fn some_of_a_balance(&self, rng: &mut Rng, parts: u64) -> Option<(usize, U256)> {
        let first = rng.below(ACCOUNTS as u64) as usize;
        let part = U256::from(1 + rng.below(parts));
        let place =
            (0..ACCOUNTS).map(|step| (first + step) % ACCOUNTS).find(|place| !self.balances[*place].is_zero())?;
        Some((place, self.balances[place] * part / U256::from(parts * 4))).filter(|(_, value)| !value.is_zero())
    }

    fn transfer(&mut self, rng: &mut Rng) -> Option<Vec<Emitted>> {
        let (from, value) = self.some_of_a_balance(rng, 1_000)?;
        let to = (from + 1 + rng.below(ACCOUNTS as u64 - 1) as usize) % ACCOUNTS;
        self.balances[from] -= value;
        self.balances[to] += value;
        Some(vec![self.token_transfer(self.accounts[from], self.accounts[to], value)])
    }

    fn fund_pool(&mut self) -> Emitted {
        self.pool_balance = self.balances[0];
        self.balances[0] = U256::ZERO;
        self.token_transfer(self.accounts[0], self.pool, self.pool_balance)
    }

    fn fund_pair(&mut self) -> Vec<Emitted> {
        let value = self.balances[1];
        self.balances[1] = U256::ZERO;
        self.pair_reserves = (value, value * U256::from(3));
        vec![self.token_transfer(self.accounts[1], self.pair, value), self.sync()]
    }

    fn sync(&self) -> Emitted {
        let (reserve0, reserve1) = self.pair_reserves;
        Emitted {
            address: self.pair,
            topics: vec![topic0("Sync(uint112,uint112)")],
            data: Data::default().uint(reserve0).uint(reserve1).finish(),
        }
    }

    /// A swap moves the tick; acorns go to or come from the pool.
    fn pool_swap(&mut self, rng: &mut Rng) -> Option<Vec<Emitted>> {
        let trader = rng.below(ACCOUNTS as u64) as usize;
        let step = 1 + rng.below(24) as i32;
        let to = if rng.chance(50) { self.tick - step } else { self.tick + step };
        if !(-RANGE..=RANGE).contains(&to) {
            return None;
        }
        let (amount0, amount1) = self.prices.amounts(self.liquidity, self.tick, to);
        let moved = amount0.unsigned_abs();
        let paid = if amount0.is_negative() {
            self.pool_balance = self.pool_balance.checked_sub(moved)?;
            self.balances[trader] += moved;
            self.token_transfer(self.pool, self.accounts[trader], moved)
        } else {
            self.balances[trader] = self.balances[trader].checked_sub(moved)?;
            self.pool_balance += moved;
            self.token_transfer(self.accounts[trader], self.pool, moved)
        };
        self.tick = to;
        let tick = I256::try_from(to).unwrap_or(I256::ZERO);
        let swap = Emitted {
            address: self.pool,
            topics: vec![
                topic0("Swap(address,address,int256,int256,uint160,uint128,int24)"),
                topic(self.accounts[trader]),
                topic(self.accounts[trader]),
            ],
            data: Data::default()
                .int(amount0)
                .int(amount1)
                .uint(self.prices.sqrt_price(to))
                .uint(self.liquidity)
                .int(tick)
                .finish(),
        };
        Some(vec![paid, swap])
    }

    /// A constant-product swap with a fee of 0.3 %.
    fn pair_swap(&mut self, rng: &mut Rng) -> Option<Vec<Emitted>> {
        let (reserve0, reserve1) = self.pair_reserves;
        let fee = |amount: U256| amount * U256::from(997) / U256::from(1_000);
        let zero = U256::ZERO;
        let (trader, paid, amounts) = if rng.chance(50) {
            let (trader, amount0) = self.some_of_a_balance(rng, 40)?;
            let out = reserve1 * fee(amount0) / (reserve0 + fee(amount0));
            self.balances[trader] -= amount0;
            self.pair_reserves = (reserve0 + amount0, reserve1 - out);
            let paid = self.token_transfer(self.accounts[trader], self.pair, amount0);
            (trader, paid, [amount0, zero, zero, out])
        } else {
            let trader = rng.below(ACCOUNTS as u64) as usize;
            let amount1 = reserve1 * U256::from(1 + rng.below(30)) / U256::from(2_000);
            let out = reserve0 * fee(amount1) / (reserve1 + fee(amount1));
            self.balances[trader] += out;
            self.pair_reserves = (reserve0 - out, reserve1 + amount1);
            let paid = self.token_transfer(self.pair, self.accounts[trader], out);
            (trader, paid, [zero, amount1, out, zero])
        };
        let [in0, in1, out0, out1] = amounts;
        let swap = Emitted {
            address: self.pair,
            topics: vec![
                topic0("Swap(address,uint256,uint256,uint256,uint256,address)"),
                topic(self.accounts[trader]),
                topic(self.accounts[trader]),
            ],
            data: Data::default().uint(in0).uint(in1).uint(out0).uint(out1).finish(),
        };
        Some(vec![paid, self.sync(), swap])
    }

    fn note(&self, rng: &mut Rng) -> Emitted {
        let author = self.accounts[rng.below(ACCOUNTS as u64) as usize];
        let tags = rng.below(4) as usize;
        let legs = 1 + rng.below(2) as usize;
        let tag_words: Vec<B256> = (0..tags).map(|_| B256::from(U256::from(rng.next()) << rng.below(190))).collect();
        let mut leg_words = Vec::new();
        for place in 0..legs {
            let delta = I256::from_raw(acorns(1 + rng.below(400)));
            leg_words.push(if place == 0 { self.token } else { self.birch }.into_word());
            leg_words.push(B256::from(if rng.chance(50) { -delta } else { delta }.into_raw()));
        }
        Emitted {
            address: self.pair,
            topics: vec![topic0("Noted(address,string,uint256[],(address,int128)[])"), topic(author)],
            data: Data::default()
                .string(NOTES[rng.below(NOTES.len() as u64) as usize])
                .array(tags, tag_words)
                .array(legs, leg_words)
                .finish(),
        }
    }
}
