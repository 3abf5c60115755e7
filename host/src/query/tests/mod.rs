#![allow(clippy::unwrap_used)]

mod basics;
mod errors;
mod guards;
mod hex;
mod information;
mod limits;
pub mod mem;
mod pages;
mod plans;
mod snapshots;
mod views;

use std::sync::Arc;

use serde_json::Value;

use super::{QueryEngine, QueryError, QueryLimits};
use crate::model::{DatasetId, NestName, TableId};
use mem::{Mem, Transfer, rejection, transfer_table, transfers};

/// An engine over one cursor with nest `usdc` of ten blocks in five chunks, two rows a block.
pub struct Bench {
    pub mem: Arc<Mem>,
    pub dataset: DatasetId,
    pub engine: QueryEngine,
}

pub fn bench() -> Bench {
    bench_with(QueryLimits::default(), &[])
}

pub fn bench_with(limits: QueryLimits, views: &[(&str, &str)]) -> Bench {
    let mem = Arc::new(Mem::new(1));
    let dataset = mem.endpoint("usdc", vec![transfer_table("usdc__transfer"), transfer_table("usdc__empty")], views);
    for first in (1..=10).step_by(2) {
        let rows: Vec<Transfer> = (first..first + 2)
            .flat_map(|block| {
                [Transfer::at(block, 3), Transfer { delta: -5, memo: Some("hi"), ..Transfer::at(block, 7) }]
            })
            .collect();
        mem.chunk(dataset, TableId::Event(0), first, first + 1, &transfers(&rows));
    }
    mem.chunk(dataset, TableId::Rejected, 4, 4, &rejection((4, 1), "bad-padding"));
    mem.stand(dataset, 10, 10);
    let engine = QueryEngine::new(vec![Arc::new(Arc::clone(&mem))], limits).unwrap();
    Bench { mem, dataset, engine }
}

impl Bench {
    pub async fn ask(&self, sql: &str) -> Result<super::Answer, QueryError> {
        self.engine.query(&"usdc".parse::<NestName>().unwrap(), sql).await
    }

    /// The answer as JSON; panics with the error where there is none.
    pub async fn json(&self, sql: &str) -> Value {
        let answer = self.ask(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        serde_json::from_str(&answer.to_json()).unwrap_or_else(|error| panic!("{sql}: {error}: {}", answer.to_json()))
    }

    /// Rows only, each as its values in order.
    pub async fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let json = self.json(sql).await;
        let names: Vec<&str> =
            json["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        let rows = json["rows"].as_array().unwrap().iter();
        rows.map(|row| names.iter().map(|&name| row[name].clone()).collect()).collect()
    }

    /// The error; panics where there is an answer.
    pub async fn error(&self, sql: &str) -> QueryError {
        match self.ask(sql).await {
            Ok(answer) => panic!("{sql} is answered: {}", answer.to_json()),
            Err(error) => error,
        }
    }
}
