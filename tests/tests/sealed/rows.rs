//! Rows and files.

use std::fs;

use nuthatch_tests::mock_rpc::Fault;

use super::{Lab, NEST};

/// I6, I8: rows are those of an index that seals nothing; the files do not depend on how the chain was followed.
#[tokio::test]
async fn rows_and_files_do_not_depend_on_how_the_chain_came() {
    let straight = Lab::new(71, 600).await;
    let dev = straight.dev().await;
    let sealed = straight.settled(&dev).await;
    straight.has_clean_rows(&dev).await;
    straight.stop(dev).await;
    straight.verify_is_clean().await;

    // Block by block at the tip, over reorgs, small answers and restarts.
    let other = Lab::new(71, 100).await;
    other.rpc.inject(Fault::MaxBlocks(7));
    let mut dev = other.dev().await;
    for step in 1..=10 {
        other.chain.advance(50);
        dev.wait_at(NEST.name, other.chain.head()).await.unwrap();
        if step % 4 == 0 {
            other.stop(dev).await;
            dev = other.dev().await;
        }
    }
    assert_eq!(other.chain.head(), straight.chain.head(), "one chain");
    assert_eq!(other.settled(&dev).await, sealed);
    other.has_clean_rows(&dev).await;
    other.stop(dev).await;
    other.verify_is_clean().await;
}

/// Rows above the final block move; sealed ones do not.
#[tokio::test]
async fn reorgs_above_the_final_block_change_no_segment() {
    let lab = Lab::new(72, 300).await;
    let dev = lab.dev().await;
    let mut before = lab.settled(&dev).await;
    for depth in [1, 5, 15] {
        lab.chain.reorg(depth);
        lab.chain.advance(90);
        let after = lab.settled(&dev).await;
        assert!(before.iter().all(|(cut, hash)| after.get(cut) == Some(hash)), "{before:?} {after:?}");
        assert!(after.len() > before.len());
        before = after;
        lab.has_clean_rows(&dev).await;
    }
    lab.stop(dev).await;
}

/// A query never answers with fewer rows.
#[tokio::test]
async fn a_missing_or_damaged_segment_fails_the_query_by_name() {
    let lab = Lab::new(73, 300).await;
    let dev = lab.dev().await;
    lab.settled(&dev).await;
    let count = "SELECT count(*) AS n, sum(value) AS s FROM token__transfer";
    let whole = dev.sql(NEST.name, count).await.unwrap();
    lab.stop(dev).await;
    let file = lab.files().into_iter().find(|file| file.display().to_string().contains("token__transfer")).unwrap();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let good = fs::read(&file).unwrap();

    let dev = lab.dev().await;
    let mut flipped = good.clone();
    flipped[good.len() / 3] ^= 4;
    for damaged in [None, Some(&flipped[..]), Some(&good[..good.len() - 1]), Some(&[])] {
        match damaged {
            None => fs::remove_file(&file).unwrap(),
            Some(bytes) => fs::write(&file, bytes).unwrap(),
        }
        let refused = format!("{:#}", dev.sql(NEST.name, count).await.unwrap_err());
        assert!(refused.contains(&name) && refused.contains("nuthatch segments verify"), "{refused}");
        let verified = lab.command(&["segments", "verify"]).await;
        assert_eq!(verified.code, 1, "{}", verified.stdout);
        assert!(verified.stdout.contains(&name), "{}", verified.stdout);
        assert!(
            verified.stderr.contains("error: 1 segments are missing or damaged; put them back"),
            "{}",
            verified.stderr
        );
        fs::write(&file, &good).unwrap();
    }
    assert_eq!(dev.sql(NEST.name, count).await.unwrap(), whole);
    lab.stop(dev).await;
    lab.verify_is_clean().await;
}

/// What a query can ask of sealed rows, beside the same rows unsealed.
#[tokio::test]
async fn queries_answer_alike_over_sealed_and_hot_rows() {
    let lab = Lab::new(74, 500).await;
    let sealing = lab.dev().await;
    lab.settled(&sealing).await;
    let hot = Lab::new(74, 500).await;
    let plain = hot.dev_of(1_000_000).await;
    plain.wait_at(NEST.name, hot.chain.head()).await.unwrap();
    assert!(hot.segments().await.is_empty());
    let one = plain.sql(NEST.name, "SELECT address, tx_hash, from_, value FROM token__transfer LIMIT 1").await.unwrap();
    let text = |key: &str| one[0][key].as_str().unwrap().to_owned();
    let queries = [
        "SELECT count(*) AS n FROM token__transfer".to_owned(),
        "SELECT count(*) AS n, min(block_number) AS a, max(block_number) AS b, sum(value) AS s FROM token__transfer".to_owned(),
        "SELECT count(*) AS n, sum(value) AS s FROM token__transfer WHERE block_number BETWEEN 100 AND 180".to_owned(),
        "SELECT address, count(*) AS n, sum(value) AS s FROM token__transfer GROUP BY address ORDER BY address".to_owned(),
        format!("SELECT * FROM token__transfer WHERE tx_hash = '{}' ORDER BY log_index", text("tx_hash")),
        format!("SELECT count(*) AS n FROM token__transfer WHERE address = '{}'", text("address").to_uppercase().replace("0X", "0x")),
        format!("SELECT count(*) AS n FROM token__transfer WHERE from_ = '{}'", text("from_")),
        format!("SELECT block_number, log_index FROM token__transfer WHERE value = {} ORDER BY 1, 2", text("value")),
        "SELECT count(*) AS n FROM token__transfer WHERE from_ = '0x00000000000000000000000000000000000000ff'".to_owned(),
        "SELECT block_number, block_timestamp, value FROM token__transfer ORDER BY block_number DESC, log_index DESC LIMIT 10".to_owned(),
        "SELECT block_number, log_index FROM token__transfer ORDER BY block_number, log_index LIMIT 7".to_owned(),
        "SELECT count(*) AS n FROM token__transfer WHERE block_timestamp > (SELECT min(block_timestamp) FROM token__transfer)".to_owned(),
        "SELECT max(value) AS m FROM token__transfer WHERE value > 5 AND block_number < 200".to_owned(),
        "SELECT count(*) AS n FROM token__transfer t JOIN token__approval a ON a.block_number = t.block_number".to_owned(),
        "SELECT count(distinct block_number) AS n, max(block_number) - min(block_number) + 1 AS span FROM token__transfer".to_owned(),
    ];
    for query in queries {
        let answer = sealing.sql(NEST.name, &query).await.unwrap();
        assert!(!answer.is_empty() || query.contains("0xff"), "{query}");
        assert_eq!(answer, plain.sql(NEST.name, &query).await.unwrap(), "{query}");
    }
    let rows = "SELECT rows FROM _status";
    assert_eq!(sealing.sql(NEST.name, rows).await.unwrap(), plain.sql(NEST.name, rows).await.unwrap());
    lab.stop(sealing).await;
    hot.stop(plain).await;
    let at_rest =
        lab.command(&["sql", "--dir", ".", "SELECT count(*) AS n FROM token__transfer", "--format", "csv"]).await;
    assert_eq!(at_rest.code, 0, "{}", at_rest.stderr);
    assert!(at_rest.stdout.lines().nth(1).is_some_and(|n| n.parse::<u64>().unwrap() > 200), "{}", at_rest.stdout);
}

/// I9: a reorg below what is sealed. The cursor halts and goes on serving; after a rebuild rows and files are those of
/// an index of the new chain.
#[tokio::test]
async fn a_reorg_below_sealed_rows_is_rebuilt() {
    let lab = Lab::new(78, 400).await;
    let dev = lab.dev().await;
    let before = lab.settled(&dev).await;
    let rows = "SELECT count(*) AS n, sum(value) AS s, max(block_number) AS b FROM token__transfer";
    let served = dev.sql(NEST.name, rows).await.unwrap();

    lab.chain.reorg(120);
    lab.chain.advance(3);
    let ready = async {
        loop {
            let (status, body) = dev.get("/ready").await.unwrap();
            if status == 503 && body.contains("cursor rebuild") && body.contains("endpoint") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(nuthatch_tests::process::PATIENCE, ready).await.expect("it says both ways out");
    assert_eq!(dev.sql(NEST.name, rows).await.unwrap(), served);

    let rebuilt = lab.command(&["cursor", "rebuild", "eip155:31337"]).await;
    assert_eq!(rebuilt.code, 0, "{}", rebuilt.stderr);
    let after = lab.settled(&dev).await;
    assert_ne!(after, before);
    lab.has_clean_rows(&dev).await;
    lab.stop(dev).await;
    lab.verify_is_clean().await;

    let clean = Lab { chain: lab.chain.clone(), ..Lab::new(78, 1).await };
    clean.rpc.switch_chain(&lab.chain);
    let dev = clean.dev().await;
    assert_eq!(clean.settled(&dev).await, after);
    clean.stop(dev).await;
}
