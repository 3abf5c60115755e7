//! `nuthatch bundle build` and `bundle inspect`

use serde_json::Value;

use super::*;

async fn nest(dir: &Path) {
    std::fs::write(dir.join("Counter.json"), ABI).unwrap();
    done(&run(dir, &["init", CONTRACT, "--abi", "Counter.json", "--chain", "gnosis", "--dir", "nest"]).await);
}

#[tokio::test]
async fn a_build_is_reproducible_and_shows_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    nest(dir.path()).await;
    std::fs::write(dir.path().join("nest/views/forgotten.sql"), "SELECT 1").unwrap();
    let built = run(dir.path(), &["bundle", "build", "nest"]).await;
    done(&built);
    assert!(built.stderr.contains("nest/views/forgotten.sql is in no [[views]]"), "{}", built.stderr);
    assert!(!built.stderr.contains("events_by_day"), "{}", built.stderr);
    done(&run(dir.path(), &["bundle", "build", "nest", "--out", "again.wasm"]).await);
    let bytes = std::fs::read(dir.path().join("nest-0.1.0.nest.wasm")).unwrap();
    assert!(bytes == std::fs::read(dir.path().join("again.wasm")).unwrap());

    let shown = run(dir.path(), &["bundle", "inspect", "again.wasm"]).await;
    done(&shown);
    let json = run(dir.path(), &["bundle", "inspect", "again.wasm", "--json"]).await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    for text in [json["address"].as_str().unwrap(), json["data_identity"].as_str().unwrap()] {
        assert!(shown.stdout.contains(text) && built.stdout.contains(text));
    }
    for text in
        ["gnosis (100)", "counter__counted", "uint256", "events_by_day", "abis/counter.json", "nuthatch:nest/log@1.0.0"]
    {
        assert!(shown.stdout.contains(text), "'{text}' is not in: {}", shown.stdout);
    }
    assert_eq!(json["manifest"]["tables"][0]["name"], "counter__counted");
}

#[tokio::test]
async fn a_lock_of_another_decoder_stops_the_build_until_it_is_upgraded() {
    let dir = tempfile::tempdir().unwrap();
    nest(dir.path()).await;
    let lock = dir.path().join("nest/nest.lock");
    let own = read(&lock);
    std::fs::write(&lock, format!("decoder = \"{}\"\n", "0".repeat(64))).unwrap();
    refused(&run(dir.path(), &["bundle", "build", "nest"]).await, 1, &["nest/nest.lock", "--upgrade-decoder"]);
    assert!(!dir.path().join("nest-0.1.0.nest.wasm").exists());
    done(&run(dir.path(), &["bundle", "build", "nest", "--upgrade-decoder"]).await);
    assert_eq!(read(&lock), own);
}

#[tokio::test]
async fn what_is_no_nest_and_what_is_no_bundle_is_told() {
    let dir = tempfile::tempdir().unwrap();
    nest(dir.path()).await;
    refused(&run(dir.path(), &["bundle", "build"]).await, 1, &["nest.toml does not exist", "nuthatch init"]);
    std::fs::write(dir.path().join("nest/views/events_by_day.sql"), "SELECT 1; DROP TABLE x").unwrap();
    refused(&run(dir.path(), &["bundle", "build", "nest"]).await, 1, &["view 'events_by_day' is 2 statements"]);
    std::fs::remove_file(dir.path().join("nest/views/events_by_day.sql")).unwrap();
    refused(&run(dir.path(), &["bundle", "build", "nest"]).await, 1, &["nest/views/events_by_day.sql", "view"]);
    refused(&run(dir.path(), &["bundle", "inspect", "Counter.json"]).await, 1, &["Counter.json is not a bundle"]);
    refused(&run(dir.path(), &["bundle", "inspect", "absent.wasm"]).await, 1, &["absent.wasm cannot be read"]);
}
