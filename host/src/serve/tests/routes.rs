//! All routes but SQL.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Surroundings, client, send, server, server_with};
use crate::query::QueryLimits;

#[tokio::test]
async fn health_readiness_and_metrics() {
    let (say, readiness) = watch::channel(Vec::new());
    let around =
        Surroundings { readiness: Arc::new(readiness), metrics: Arc::new(|| "nuthatch_rows_total 3\n".to_owned()) };
    let server = server_with(QueryLimits::default(), &[], around).await;
    assert_eq!(server.get("/health").await.json(), json!({"status": "ok"}));
    assert_eq!(server.get("/ready").await.status, 200);
    say.send(vec!["chain 1 is halted: a reorg below the final block".to_owned()]).unwrap();
    let ready = server.get("/ready").await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["reasons"], json!(["chain 1 is halted: a reorg below the final block"]));
    say.send(Vec::new()).unwrap();
    assert_eq!(server.get("/ready").await.status, 200);
    let metrics = server.get("/metrics").await;
    assert_eq!(metrics.body, "nuthatch_rows_total 3\n");
    assert!(metrics.content_type.starts_with("text/plain; version=0.0.4"), "{}", metrics.content_type);
}

#[tokio::test]
async fn nests_and_tables_are_described() {
    let views = [("totals", "SELECT sum(value) AS total FROM usdc__transfer"), ("broken", "SELECT x FROM y")];
    let around = Surroundings { readiness: Arc::new(()), metrics: Arc::new(String::new) };
    let server = server_with(QueryLimits::default(), &views, around).await;
    let nests = server.get("/nests").await.json();
    assert_eq!(nests["nests"][0]["name"], json!("usdc"));
    assert_eq!(nests["nests"][0]["status"], json!("active"));
    assert_eq!(nests["nests"][0]["as_of_block"], json!(10));

    let nest = server.get("/nests/usdc").await.json();
    assert_eq!((nest["version"].clone(), nest["complete"].clone()), (json!("1.2.3"), json!(true)));
    assert_eq!(nest["tables"][0]["path"], json!("/nests/usdc/tables/usdc__transfer"));
    assert_eq!(nest["tables"][0]["rows"], json!(20));

    let tables = server.get("/nests/usdc/tables").await.json();
    let tables = tables["tables"].as_array().unwrap();
    assert_eq!(
        tables[0]["columns"][9],
        json!({"name": "value", "type": "uint256", "nullable": false, "doc": "the value"})
    );
    let broken = tables.iter().find(|table| table["name"] == "broken").unwrap();
    assert!(broken["broken"].as_str().unwrap().contains("there is no table 'y'"), "{broken}");

    let home = server.get("/").await;
    assert!(home.content_type.starts_with("text/html"), "{}", home.content_type);
    for part in ["usdc__transfer", "20 rows", "curl -s", "/nests/usdc/sql", &server.url[7..]] {
        assert!(home.body.contains(part), "{part}: {}", home.body);
    }
}

#[tokio::test]
async fn pages_follow_each_other_to_the_end() {
    let server = server().await;
    for (order, first) in [("asc", json!(1)), ("desc", json!(10))] {
        let path = format!("/nests/usdc/tables/usdc__transfer?block_number_gte=1&order={order}&limit=6");
        let (mut seen, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
        let mut pages = 0;
        loop {
            let path = cursor.map_or_else(|| path.clone(), |cursor| format!("{path}&cursor={cursor}"));
            let page = server.get(&path).await;
            assert_eq!(page.status, 200, "{}", page.body);
            let page = page.json();
            pages += 1;
            seen.extend(
                page["rows"].as_array().unwrap().iter().map(|row| json!([row["block_number"], row["log_index"]])),
            );
            assert_eq!(page["more"], json!(page["next"].is_string()));
            match page["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!((pages, seen.len(), seen[0][0].clone()), (4, 20, first));
        seen.sort_by_key(Value::to_string);
        seen.dedup();
        assert_eq!(seen.len(), 20);
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_request() {
    let server = server().await;
    let path = "/nests/usdc/tables/usdc__transfer?limit=3";
    let next = server.get(path).await.json()["next"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("{path}&cursor={next}")).await.status, 200);
    for path in [
        format!("{path}&order=desc&cursor={next}"),
        format!("{path}&log_index=3&cursor={next}"),
        format!("/nests/usdc/tables/usdc__empty?limit=3&cursor={next}"),
        format!("{path}&cursor=zz"),
        format!("{path}&cursor="),
        "/nests/usdc/tables/usdc__transfer?limit=0".to_owned(),
        "/nests/usdc/tables/usdc__transfer?limit=100000".to_owned(),
        "/nests/usdc/tables/usdc__transfer?order=up".to_owned(),
        "/nests/usdc/tables/usdc__transfer?valeu=3".to_owned(),
        "/nests/usdc/tables/usdc__transfer?format=xml".to_owned(),
    ] {
        let reply = server.get(&path).await;
        assert_eq!(reply.status, 400, "{path}: {}", reply.body);
        assert!(reply.json()["error"]["message"].is_string(), "{path}: {}", reply.body);
    }
    let csv = server.get("/nests/usdc/tables/usdc__transfer?limit=3&format=csv").await;
    assert_eq!(csv.body.lines().count(), 4);
}

#[tokio::test]
async fn what_is_not_there_says_what_is() {
    let server = server().await;
    let reply = server.get("/nets").await;
    assert_eq!(reply.status, 404);
    assert!(reply.json()["error"]["hint"].as_str().unwrap().contains("/nests/NAME/sql"), "{}", reply.body);
    for path in ["/nests/usdt", "/nests/usdt/tables", "/nests/usdt/tables/x", "/nests/US%20DC/sql?q=SELECT+1"] {
        assert_eq!(server.get(path).await.status, 404, "{path}");
    }
    let reply = server.get("/nests/usdt").await.json();
    assert_eq!(reply["error"]["hint"], json!("did you mean usdc?"));
    assert_eq!(server.get("/nests/usdc/tables/nothing").await.status, 404);
    let reply = send(client().delete(format!("{}/nests/usdc", server.url))).await;
    assert_eq!(reply.status, 405);
    assert_eq!(reply.json()["error"]["code"], json!("no-such-method"));
    for path in ["/", "/health", "/nests/usdc/tables/usdc__transfer?limit=1"] {
        let reply = send(client().head(format!("{}{path}", server.url))).await;
        assert_eq!((reply.status, reply.body.len()), (200, 0), "{path}");
    }
}

#[tokio::test]
async fn bodies_have_a_cap() {
    let server = server().await;
    let url = format!("{}/nests/usdc/sql", server.url);
    let reply = send(client().post(&url).body(format!("SELECT '{}'", "x".repeat(2 << 20)))).await;
    assert_eq!(reply.status, 413);
    let reply = send(client().post(&url).body(format!("SELECT '{}'", "x".repeat(200 << 10)))).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!("not-allowed")));
    assert_eq!(send(client().post(&url).body(vec![0xff_u8, 0xfe])).await.status, 400);
    assert_eq!(send(client().post(&url).body("{\"sql\": 1}")).await.status, 400);
}
