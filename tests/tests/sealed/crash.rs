//! Kills.

use std::time::Duration;

use super::{Lab, NEST};

/// I7: killed at any point of sealing and backfill, no row is missing, none doubled, and the files are the same ones.
#[tokio::test]
async fn kills_lose_nothing_and_double_nothing() {
    let straight = Lab::new(75, 900).await;
    let dev = straight.dev().await;
    let sealed = straight.settled(&dev).await;
    straight.stop(dev).await;

    let lab = Lab::new(75, 900).await;
    for wait in [40, 90, 160, 240, 330] {
        let dev = lab.dev().await;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let seen =
            dev.sql(NEST.name, "SELECT count(*) AS n, count(distinct block_number) AS d FROM token__transfer").await;
        drop(seen);
        dev.kill().await.unwrap();
    }
    let dev = lab.dev().await;
    assert_eq!(lab.settled(&dev).await, sealed);
    lab.has_clean_rows(&dev).await;
    lab.stop(dev).await;
    lab.verify_is_clean().await;
}
