//! A nest that was edited into something that cannot run: said so, and the rows are kept.

use std::fs;

use super::Lab;

#[tokio::test]
async fn a_nest_that_cannot_be_built_keeps_its_rows() {
    let lab = Lab::indexed().await;
    let before = lab.rows_at_rest().await;
    let toml = lab.nest.join("nest.toml");
    let good = fs::read_to_string(&toml).unwrap();
    let abi = lab.nest.join("abis/token.json");
    let good_abi = fs::read_to_string(&abi).unwrap();

    for (broken, says) in [
        (good.replace("start_block", "start_blok"), &["nest.toml", "start_blok"][..]),
        (good.replace("[nest]", "[nest"), &["nest.toml"]),
        (good.replace("\"0x", "\"0y"), &["nest.toml", "0y"]),
        (good.replace("abis/token.json", "abis/tokens.json"), &["abis/tokens.json"]),
    ] {
        assert_ne!(broken, good);
        fs::write(&toml, broken).unwrap();
        lab.refused(says).await;
    }
    fs::write(&toml, &good).unwrap();

    fs::write(&abi, "[]").unwrap();
    lab.refused(&["nest.toml", "contract 'token': its ABI declares no event"]).await;
    fs::write(&abi, "{").unwrap();
    lab.refused(&["token.json"]).await;
    fs::write(&abi, good_abi).unwrap();

    let view = lab.nest.join("views/busy.sql");
    fs::create_dir_all(lab.nest.join("views")).unwrap();
    fs::write(&toml, format!("{good}\n[[views]]\nname = \"busy\"\nsql = \"views/busy.sql\"\n")).unwrap();
    lab.refused(&["views/busy.sql"]).await;
    fs::write(&view, "SELEC 1").unwrap();
    lab.refused(&["view 'busy' is not SQL", "SELEC"]).await;
    fs::write(&view, "SELECT count(*) AS n FROM token__transfers").unwrap();
    let dev = lab.dev().await;
    let told = "view 'busy' of nest 'tokens' cannot be queried: ";
    dev.wait_for("tokens", "SELECT 1", |_| dev.log().contains(told)).await.unwrap();
    assert!(dev.log().contains("token__transfers"), "{}", dev.log());
    assert_eq!(dev.signal(rustix::process::Signal::TERM).await.unwrap(), 0);
    fs::write(&view, "SELECT count(*) AS n FROM token__transfer").unwrap();

    assert_eq!(lab.rows_at_rest().await, before);
    lab.goes_on(lab.dev().await).await;
}
