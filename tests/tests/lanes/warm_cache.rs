//! Queries that come again and again while the branch changes under them.

use nuthatch_tests::mock_nest::MockNest;
use nuthatch_tests::process::number;
use serde_json::Value;

use super::*;

const NEST: MockNest = MockNest { name: "token", start_block: 0, tokens: 0..5 };
const BLOCKS: &str = "SELECT DISTINCT block_number, block_hash FROM (SELECT block_number, block_hash FROM \
                      token__transfer UNION ALL SELECT block_number, block_hash FROM token__approval) \
                      ORDER BY block_number";

/// I6: every answer is one branch, that of the block it names, however warm the caches are.
#[tokio::test]
async fn an_answer_is_of_one_branch_and_the_next_one_shows_the_new_rows() {
    let lab = Lab::new(31, 60).await;
    let dev = lab.dev(&[&NEST]).await;
    dev.wait_at("token", lab.chain.head()).await.unwrap();
    for round in 0..12 {
        // Warm in every part: the old rows have just been read.
        for _ in 0..3 {
            of_one_branch(&lab, &dev.answer("token", BLOCKS).await.unwrap());
        }
        let old = lab.chain.head();
        match round % 3 {
            0 => lab.chain.reorg(1 + round),
            1 => lab.chain.advance(1),
            _ => {
                lab.chain.reorg(2);
                lab.chain.advance(1);
            }
        }
        let head = lab.chain.head();
        assert_ne!(head, old);
        dev.wait_at("token", head).await.unwrap();
        let answer = dev.answer("token", BLOCKS).await.unwrap();
        assert_eq!(answer["meta"]["as_of_hash"], format!("{:#x}", head.hash));
        of_one_branch(&lab, &answer);
    }
    lab.all_equal_clean(&dev, &[&NEST]).await;
    stop(dev).await;
}

/// The blocks in the answer are those of the chain up to the block it names, where that is the chain's.
fn of_one_branch(lab: &Lab, answer: &Value) {
    let as_of = number(&answer["meta"]["as_of_block"]).unwrap();
    let header = lab.chain.header(as_of).unwrap();
    assert_eq!(answer["meta"]["as_of_hash"], format!("{:#x}", header.hash), "no block of the chain as it is");
    let wanted = (0..=as_of).filter(|number| lab.chain.logs(*number, *number).iter().any(|log| !log.topics.is_empty()));
    let wanted: Vec<(u64, String)> =
        wanted.map(|number| (number, format!("{:#x}", lab.chain.header(number).unwrap().hash))).collect();
    let rows = answer["rows"].as_array().unwrap().iter();
    let found: Vec<(u64, String)> = rows
        .map(|row| (number(&row["block_number"]).unwrap(), row["block_hash"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(found, wanted);
}
