//! Dropping what no nest needs, and nothing else.

use nuthatch_tests::mock_nest::MockNest;

use super::*;

const KEPT: MockNest = MockNest { name: "kept", start_block: 0, tokens: 0..2 };
const GONE: MockNest = MockNest { name: "gone", start_block: 0, tokens: 2..5 };

/// The dataset that a nest made.
async fn dataset_of(lab: &Lab, nest: &str) -> Option<String> {
    lab.datasets().await.iter().find(|dataset| dataset["nest"] == nest).map(|dataset| dataset["dataset"].to_string())
}

#[tokio::test]
async fn only_what_no_nest_is_served_from_is_dropped() {
    let lab = Lab::new(61, 120).await;
    let dev = lab.dev(&[&KEPT, &GONE]).await;
    lab.all_equal_clean(&dev, &[&KEPT, &GONE]).await;
    let (kept, gone) = (dataset_of(&lab, "kept").await.unwrap(), dataset_of(&lab, "gone").await.unwrap());
    refused(&lab.command(&["dataset", "drop", &gone]).await, &["belongs to a nest"]);
    refused(&lab.command(&["reset", "--yes"]).await, &[&dev.pid().unwrap().to_string()]);
    stop(dev).await;
    refused(&lab.command(&["dataset", "drop", &kept]).await, &["kept"]);

    // A nest that is no longer named leaves its dataset behind, and takes it up again when it comes back.
    let dev = lab.dev(&[&KEPT]).await;
    lab.chain.reorg(5);
    lab.chain.advance(10);
    lab.all_equal_clean(&dev, &[&KEPT]).await;
    assert_eq!(dataset_of(&lab, "gone").await, Some(gone.clone()));
    stop(dev).await;
    let dev = lab.dev(&[&KEPT, &GONE]).await;
    lab.all_equal_clean(&dev, &[&KEPT, &GONE]).await;
    assert_eq!(dataset_of(&lab, "gone").await, Some(gone.clone()));
    stop(dev).await;

    let dev = lab.dev(&[&KEPT]).await;
    done(&lab.command(&["dataset", "drop", &gone]).await, "is gone");
    assert_eq!(dataset_of(&lab, "gone").await, None);
    lab.all_equal_clean(&dev, &[&KEPT]).await;
    stop(dev).await;

    done(&lab.command(&["reset", "--yes"]).await, "deleted");
    let dev = lab.dev(&[&KEPT, &GONE]).await;
    lab.all_equal_clean(&dev, &[&KEPT, &GONE]).await;
    stop(dev).await;
}
