#![allow(clippy::unwrap_used)]

use super::*;

fn found(text: &str) -> Vec<Suspect> {
    scan_text("file", text.as_bytes()).into_iter().map(|finding| finding.what).collect()
}

/// A canary made of parts, so that this file holds no credential of its own.
fn join(parts: &[&str]) -> String {
    parts.concat()
}

#[test]
fn credentials_are_found() {
    let hex32 = "9aa3d95b3bc440fa88ea12eaa4456161";
    let hex64 = format!("{hex32}{}", "c0ffee254729296a45a3885639ac7e10");
    let token = join(&["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"]);
    let aws = join(&["AKI", "A", "IOSFODNN7QTRAPLE"]);
    for (text, expected) in [
        (format!("https://mainnet.infura.io/v3/{hex32}"), Suspect::UrlKey),
        (format!("rpc = \"wss://mainnet.infura.io/ws/v3/{hex32}\""), Suspect::UrlKey),
        ("https://eth-mainnet.g.alchemy.com/v2/aB3-kd93_JdkLs8sQpWm20xZyVuTnR1c".to_owned(), Suspect::UrlKey),
        (format!("https://cool-late-sun.quiknode.pro/{hex32}01234567/"), Suspect::UrlKey),
        (format!("https://rpc.ankr.com/eth/{hex64}"), Suspect::UrlKey),
        ("https://eth-mainnet.blastapi.io/6f1a7c2e-93bd-4f7a-8f11-0c9a5b7d3e21".to_owned(), Suspect::UrlKey),
        (format!("https://lb.drpc.org/ogrpc?network=ethereum&dkey={hex32}"), Suspect::UrlKey),
        (format!("https://{hex32}.eth.rpc.rivet.cloud/"), Suspect::UrlKey),
        (format!("https://eth.example.net/v2/{hex32}"), Suspect::UrlKey),
        (format!("https://secret.example.net/{hex32}"), Suspect::UrlKey),
        ("https://mainnet.infura.io/v3/a-key-made-of-words".to_owned(), Suspect::UrlKey),
        ("https://api.example.net/x?apikey=hunter2hunter2".to_owned(), Suspect::UrlKey),
        ("see [the node](https://example.net/?access_token=abcdefgh).".to_owned(), Suspect::UrlKey),
        ("postgres://nest:hunter2@db.example.net/nuthatch".to_owned(), Suspect::UrlUser),
        ("https://user@example.net/".to_owned(), Suspect::UrlUser),
        ("https://user:pa$$@example.net".to_owned(), Suspect::UrlUser),
        (format!("private_key = \"0x{hex64}\""), Suspect::PrivateKey),
        (format!("PRIVATE_KEY={hex64}"), Suspect::PrivateKey),
        (format!("{{\"privateKey\": \"{hex64}\"}}"), Suspect::PrivateKey),
        (format!("cast send --private-key 0x{hex64}"), Suspect::PrivateKey),
        (format!("private key:\n  0x{hex64}"), Suspect::PrivateKey),
        (format!("-- pk: 0x{hex64}"), Suspect::PrivateKey),
        (format!("MNEMONIC=\"{}\"", ["test"; 12].join(" ")), Suspect::PrivateKey),
        (join(&["-----BEGIN ", "EC PRIVATE KEY-----"]), Suspect::PemKey),
        (join(&["-----BEGIN ", "PRIVATE KEY-----"]), Suspect::PemKey),
        (format!("key id {aws}"), Suspect::AwsKey),
        (join(&["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzK9pLmQaTe"]), Suspect::AwsKey),
        (format!("-- {token}"), Suspect::ServiceToken),
        (join(&["gl", "pat-", "aB3kd93JdkLs8sQpWm20"]), Suspect::ServiceToken),
        (
            join(&["eyJ", "hbGciOiJIUzI1NiJ9.", "eyJ", "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"]),
            Suspect::ServiceToken,
        ),
        ("Authorization: Bearer aB3kd93JdkLs8sQpWm20xZ".to_owned(), Suspect::HeaderToken),
        ("rpc_headers = \"Authorization: Basic dXNlcjpodW50ZXIyMDI2IQ==\"".to_owned(), Suspect::HeaderToken),
        ("api_key = \"aB3kd93JdkLs8sQpWm20xZ\"".to_owned(), Suspect::NamedSecret),
        ("\"password\": \"c0rrect-h0rse-9battery\"".to_owned(), Suspect::NamedSecret),
        ("INFURA_PROJECT_ID: 9aa3d95b3bc440fa88ea12eaa4456161".to_owned(), Suspect::NamedSecret),
    ] {
        assert!(found(&text).contains(&expected), "{text}: {:?}", found(&text));
    }
}

#[test]
fn what_is_public_passes() {
    let hex32 = "9aa3d95b3bc440fa88ea12eaa4456161";
    let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    for text in [
        "address = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"".to_owned(),
        format!("SELECT * FROM t WHERE topic0 = '{topic}' -- Transfer"),
        format!("secret_hash = \"{topic}\""),
        format!("{{\"name\":\"secretHash\",\"value\":\"{topic}\"}}"),
        "{\"internalType\":\"bytes32\",\"name\":\"secret\",\"type\":\"bytes32\"}".to_owned(),
        "{\"name\":\"apiKey\",\"type\":\"string\"},{\"name\":\"password\",\"type\":\"bytes32\"}".to_owned(),
        "[[secrets]]\nname = \"rpc_url\"\npurpose = \"private endpoint for this chain\"".to_owned(),
        "token = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"".to_owned(),
        "tokenAddress: 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48".to_owned(),
        "token_id = 12345678901234567890".to_owned(),
        "https://etherscan.io/tx/0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef".to_owned(),
        format!("https://github.com/a/b/blob/{hex32}12345678/src/lib.rs#L10-L20"),
        format!("https://gist.github.com/somebody/{hex32}"),
        "https://eips.ethereum.org/EIPS/eip-20".to_owned(),
        "https://docs.example.net/how-to-read-uniswap-v3-pools-in-2024-part-2".to_owned(),
        "dweb:/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG".to_owned(),
        "bzz-raw://9aa3d95b3bc440fa88ea12eaa44561619aa3d95b3bc440fa88ea12eaa4456161".to_owned(),
        "https://ipfs.example.net/ipfs/bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi".to_owned(),
        "https://mainnet.infura.io/v3/YOUR-PROJECT-ID".to_owned(),
        "https://www.alchemy.com/docs/reference/api-overview-for-everybody".to_owned(),
        "https://mainnet.infura.io/v3/${INFURA_KEY}".to_owned(),
        "https://<user>:<password>@example.net, https://$USER:$PASSWORD@example.net".to_owned(),
        "https://ethereum-rpc.publicnode.com, https://eth.llamarpc.com".to_owned(),
        "https://api.example.net?apikey=YOUR_API_KEY&chainid=1".to_owned(),
        "mailto:somebody@example.net".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "function setSecret(bytes32 secret) external; // token: see docs".to_owned(),
        "password = \"\"  # set by the operator".to_owned(),
        "the basic idea: internationalization".to_owned(),
    ] {
        assert_eq!(found(&text), [], "{text}");
    }
}

#[test]
fn a_finding_names_file_and_line_and_hides_the_value() {
    let secret = "9aa3d95b3bc440fa88ea12eaa4456161";
    let text = format!("[nest]\nname = \"x\"\r\n\n# https://mainnet.infura.io/v3/{secret}\n");
    let found = scan_text("nest.toml", text.as_bytes());
    assert_eq!(found.len(), 1);
    let shown = found[0].to_string();
    assert!(
        shown.starts_with("nest.toml:4: this looks like a URL with a key (https://mainnet.infura.io/v3/9aa…);"),
        "{shown}"
    );
    assert!(!shown.contains(&secret[..8]));
    let short = scan_text("x", b"https://user:hunter2@example.net/").remove(0).to_string();
    assert!(!short.contains("hunter2") && !short.contains("user:"), "{short}");
}

#[test]
fn other_bytes_do_not_hide_it() {
    let text = b"\xff\xfe\0 https://user:hunter2@example.net/\0\xff";
    assert_eq!(scan_text("x", text).len(), 1);
    let long = "x".repeat(1 << 20) + " https://user:hunter2@example.net/";
    assert_eq!(scan_text("x", long.as_bytes()).len(), 1);
}
