//! Pages: every row once, in order, whatever the size.

use std::sync::Arc;

use super::mem::{Mem, Transfer, transfer_table, transfers};
use super::{Bench, bench_with};
use crate::model::{NestName, TableId};
use crate::query::{Filter, Next, PageOrder, PageRequest, QueryEngine, QueryLimits};

fn request(limit: usize, order: PageOrder) -> PageRequest {
    PageRequest { table: "usdc__transfer".to_owned(), filters: Vec::new(), order, limit, after: None }
}

async fn all(bench: &Bench, mut request: PageRequest) -> Vec<(u64, u64, String)> {
    let nest: NestName = "usdc".parse().unwrap();
    let mut rows = Vec::new();
    loop {
        let page = bench.engine.page(&nest, request.clone()).await.unwrap();
        let json: serde_json::Value = serde_json::from_str(&page.answer.to_json()).unwrap();
        for row in json["rows"].as_array().unwrap() {
            let number = |name: &str| row[name].as_u64().unwrap();
            rows.push((number("block_number"), number("log_index"), row["value"].as_str().unwrap().to_owned()));
        }
        match page.next {
            Next::After(key) => request.after = Some(key),
            Next::End => return rows,
            Next::Unordered => panic!("events have an order"),
        }
    }
}

/// Logs that made several rows each, up to nine.
fn crowded() -> Bench {
    let mem = Arc::new(Mem::new(1));
    let dataset = mem.endpoint("usdc", vec![transfer_table("usdc__transfer")], &[]);
    let mut value = 0;
    for block in 1..=6 {
        let rows: Vec<Transfer> = (0..[1, 3, 9, 2, 1, 5][block as usize - 1])
            .map(|copy| {
                value += 1;
                Transfer { value, ..Transfer::at(block, copy / 9) }
            })
            .collect();
        mem.chunk(dataset, TableId::Event(0), block, block, &transfers(&rows));
    }
    mem.stand(dataset, 6, 6);
    let engine = QueryEngine::new(vec![Arc::new(Arc::clone(&mem))], QueryLimits::default()).unwrap();
    Bench { mem, dataset, engine }
}

#[tokio::test]
async fn every_row_comes_once_whatever_the_size() {
    let bench = bench_with(QueryLimits::default(), &[]);
    let crowded = crowded();
    for (bench, count) in [(&bench, 20), (&crowded, 21)] {
        for limit in [1, 2, 3, 7, 19, 20, 21, 100] {
            let mut rows = all(bench, request(limit, PageOrder::Ascending)).await;
            assert!(rows.windows(2).all(|pair| (pair[0].0, pair[0].1) <= (pair[1].0, pair[1].1)), "limit {limit}");
            let mut back = all(bench, request(limit, PageOrder::Descending)).await;
            assert!(back.windows(2).all(|pair| (pair[0].0, pair[0].1) >= (pair[1].0, pair[1].1)), "limit {limit}");
            rows.sort();
            back.sort();
            assert_eq!(rows, back, "limit {limit}");
            assert_eq!(rows.len(), count, "limit {limit}");
            rows.dedup();
            assert!(count == 20 || rows.len() == count, "limit {limit}");
        }
    }
}

#[tokio::test]
async fn filters_take_columns_with_their_types() {
    let bench = bench_with(QueryLimits::default(), &[("named", "SELECT block_number AS b, memo FROM usdc__transfer")]);
    let nest: NestName = "usdc".parse().unwrap();
    let from = format!("0x{}", "AA".repeat(20));
    for (filters, count) in [
        (vec![("block_number", "3")], 2),
        (vec![("block_number_gte", "9"), ("log_index", "3")], 2),
        (vec![("block_number_lt", "3"), ("block_number_ne", "1")], 2),
        (vec![("block_number_in", "1, 2,99")], 4),
        (vec![("from_", from.as_str())], 20),
        (vec![("from__ne", from.as_str())], 0),
        (vec![("value_gt", "9")], 2),
        (vec![("value_lte", "115792089237316195423570985008687907853269984665640564039457584007913129639935")], 20),
        (vec![("delta", "-5")], 10),
        (vec![("memo", "hi")], 10),
        (vec![("memo", "' OR 1=1 --")], 0),
        (vec![("ok", "true")], 10),
        (vec![("block_timestamp_gte", "2024-01-05T00:01:48Z")], 4),
        (vec![("block_timestamp_lt", "1704412836")], 4),
    ] {
        let filters: Vec<Filter> =
            filters.iter().map(|&(key, value)| Filter { key: key.to_owned(), value: value.to_owned() }).collect();
        let asked = PageRequest { filters: filters.clone(), ..request(100, PageOrder::Ascending) };
        let page = bench.engine.page(&nest, asked).await.unwrap_or_else(|error| panic!("{filters:?}: {error}"));
        assert_eq!(page.answer.rows(), count, "{filters:?}");
    }
    for (key, value, code) in [
        ("value", "many", "literal"),
        ("valu", "1", "unknown-name"),
        ("from_", "0x12", "literal"),
        ("ok", "yes", "literal"),
        ("block_number", "1 OR 1=1", "literal"),
        ("\"", "1", "unknown-name"),
    ] {
        let filters = vec![Filter { key: key.to_owned(), value: value.to_owned() }];
        let error = bench.engine.page(&nest, PageRequest { filters, ..request(10, PageOrder::Ascending) }).await;
        let error = error.expect_err(key);
        assert_eq!(error.code(), code, "{key}={value}: {error}");
        assert_eq!(error.position(), None);
    }
    let view = PageRequest { table: "named".to_owned(), ..request(5, PageOrder::Ascending) };
    let page = bench.engine.page(&nest, view).await.unwrap();
    assert_eq!((page.answer.rows(), page.next), (5, Next::Unordered));
}
