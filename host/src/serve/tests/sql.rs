//! The SQL route over HTTP.

use serde_json::json;

use super::{client, send, server};

#[tokio::test]
async fn rows_are_read_back_over_http() {
    let server = server().await;
    let url = format!("{}/nests/usdc/sql", server.url);
    let sql = "SELECT block_number, value FROM usdc__transfer WHERE log_index = 3 ORDER BY 1 LIMIT 2";
    let wanted = json!([{"block_number": 1, "value": "1"}, {"block_number": 2, "value": "2"}]);
    let form = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", sql).finish();
    for request in [
        client().get(format!("{url}?{form}")),
        client().post(&url).body(sql),
        client().post(&url).json(&json!({"q": sql})),
        client().post(&url).header("content-type", "application/x-www-form-urlencoded").body(form.clone()),
    ] {
        let reply = send(request).await;
        assert_eq!((reply.status, reply.content_type.as_str()), (200, "application/json"), "{}", reply.body);
        let json = reply.json();
        assert_eq!(json["rows"], wanted);
        assert_eq!(json["columns"][1], json!({"name": "value", "type": "uint256"}));
        assert_eq!(json["meta"]["as_of_block"], json!(10));
    }
    let csv = send(client().post(&url).header("accept", "text/csv").body(sql)).await;
    assert_eq!(csv.body, "block_number,value\r\n1,1\r\n2,2\r\n");
    assert!(csv.content_type.starts_with("text/csv"), "{}", csv.content_type);
}

#[tokio::test]
async fn errors_say_where_and_what_to_do() {
    let server = server().await;
    let reply =
        send(client().post(format!("{}/nests/usdc/sql", server.url)).body("SELECT valeu\nFROM usdc__transfer")).await;
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    assert_eq!(error["code"], json!("unknown-name"));
    assert_eq!(error["position"], json!({"line": 1, "column": 8}));
    assert_eq!(error["hint"], json!("did you mean value?"));

    assert_eq!(server.get("/nests/usdt/sql?q=SELECT+1").await.status, 404);
    assert_eq!(server.get("/nests/usdc/sql").await.status, 400);
    assert_eq!(server.get("/nests/usdc/sql?q=SELECT+1&format=xml").await.status, 400);
}
