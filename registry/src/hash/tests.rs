#![allow(clippy::unwrap_used)]

use super::*;

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_hash_is_64_lower_case_digits_with_or_without_prefix() {
    let hash = BundleHash::of(b"abc");
    // BLAKE3 of "abc", from its own test vectors.
    let text = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
    assert_eq!(hash.to_string(), text);
    assert_eq!(text.parse::<BundleHash>().unwrap(), hash);
    assert_eq!(format!("0x{text}").parse::<BundleHash>().unwrap(), hash);
    assert_eq!(ContentHash::of(b"abc").as_bytes(), hash.as_bytes());
    assert_eq!(format!("{hash:?}"), format!("BundleHash({text})"));

    let upper = text.to_uppercase();
    for bad in [
        "",
        "0x",
        &text[1..],
        &format!("{text}0"),
        &upper,
        &format!("0X{text}"),
        &format!("0x0x{}", &text[2..]),
        &format!("blake3:{text}"),
        &format!(" {text}"),
        &format!("g{}", &text[1..]),
        "../../etc/passwd",
    ] {
        assert!(bad.parse::<BundleHash>().is_err(), "{bad}");
        assert!(bad.parse::<DataIdentity>().is_err(), "{bad}");
    }
}

#[test]
fn hashes_travel_through_json_as_text() {
    let identity: DataIdentity = serde_json::from_str(&format!("\"{ZEROS}\"")).unwrap();
    assert_eq!(identity, DataIdentity([0; 32]));
    assert_eq!(serde_json::to_string(&identity).unwrap(), format!("\"{ZEROS}\""));
    assert!(serde_json::from_str::<DataIdentity>("\"00\"").is_err());
}

#[test]
fn a_name_can_be_a_folder_as_it_is() {
    for good in ["a", "usdc", "usdc-v2", "a--b", "a-", &"x".repeat(63)] {
        assert_eq!(good.parse::<NestName>().unwrap().as_str(), good);
        assert_eq!(serde_json::from_str::<NestName>(&format!("\"{good}\"")).unwrap().to_string(), good);
    }
    for bad in [
        "",
        "..",
        ".",
        "/abs",
        "a/../b",
        "a\0",
        "a\\b",
        "%2e%2e",
        "CON",
        "Usdc",
        "1inch",
        "-a",
        "_a",
        "a_b",
        "a.b",
        "а",
        "a b",
        "a\n",
        &"x".repeat(64),
        &"x".repeat(300),
    ] {
        assert!(bad.parse::<NestName>().is_err(), "{bad:?}");
    }
    let message = "\u{1b}[31m".parse::<NestName>().unwrap_err().to_string();
    assert!(!message.contains('\u{1b}'), "{message}");
}
