#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

const HASH: &str = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
const RECORD: &str = r#"{"data_identity":"ID","hash":"HASH","name":"usdc","published_at":"2026-01-02T03:04:05Z","size":3,"version":"1.3.0"}"#;
const NOTICE: &str =
    r#"{"at":"2026-01-02T03:04:05Z","kind":"yank","name":"usdc","reason":"wrong sign","seq":2,"version":"1.3.0"}"#;

fn record_json() -> String {
    RECORD.replace("ID", &"0".repeat(64)).replace("HASH", HASH)
}

fn record(json: &str) -> Result<VersionRecord, BadRecord> {
    VersionRecord::parse(json.as_bytes(), &"usdc".parse().unwrap(), &Version::new(1, 3, 0))
}

fn notice(json: &str) -> Result<Notice, BadRecord> {
    Notice::parse(json.as_bytes(), &"usdc".parse().unwrap(), 2)
}

#[test]
fn vectors() {
    let read = record(&record_json()).unwrap();
    assert_eq!(read.hash.to_string(), HASH);
    assert_eq!(read.published_at, Timestamp::from_unix(1_767_323_045));
    assert_eq!(read.to_json(), record_json());
    let read = notice(NOTICE).unwrap();
    assert_eq!((read.kind, read.seq, read.reason.as_str()), (NoticeKind::Yank, 2, "wrong sign"));
    assert_eq!(read.to_json(), NOTICE);
}

#[test]
fn a_record_stands_where_it_says() {
    let json = record_json();
    for (from, to, field) in [("usdc", "weth", "name"), ("1.3.0", "1.3.1", "version")] {
        let error = record(&json.replace(from, to)).unwrap_err();
        assert!(matches!(error, BadRecord::Misplaced { field: named, .. } if named == field), "{error}");
    }
    assert!(matches!(notice(&NOTICE.replace("\"seq\":2", "\"seq\":3")), Err(BadRecord::Misplaced { .. })));
    assert!(matches!(notice(&NOTICE.replace("usdc", "weth")), Err(BadRecord::Misplaced { .. })));
    let zero = Notice::parse(NOTICE.replace("\"seq\":2", "\"seq\":0").as_bytes(), &"usdc".parse().unwrap(), 0);
    assert_eq!(zero, Err(BadRecord::Value { field: "seq" }));
}

#[test]
fn other_json_is_refused() {
    let json = record_json();
    for bad in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        json.replace("{\"data", "{ \"data"),
        format!("{json}\n"),
        format!("{json}{json}"),
        json.replace("\"size\":3", "\"size\":-3"),
        json.replace("\"size\":3", "\"size\":3.0"),
        json.replace("\"size\":3", "\"size\":\"3\""),
        json.replace("\"size\":3", "\"size\":0"),
        json.replace("\"size\":3", "\"size\":33554433"),
        json.replace("\"size\":3", "\"size\":3,\"size\":3"),
        json.replace("\"size\":3", "\"signature\":\"\",\"size\":3"),
        json.replace(HASH, &HASH[1..]),
        json.replace(HASH, &HASH.to_uppercase()),
        json.replace(HASH, &format!("0x{HASH}")),
        json.replace("1.3.0", "1.3.0+x"),
        json.replace("usdc", "../usdc"),
        json.replace("usdc", "\\u0075sdc"),
        json.replace("05Z", "05.5Z"),
        json.replace("05Z", "05+00:00"),
        json.replace("2026-01-02T", "2026-01-02 "),
        json.replace("2026-01", "2026-13"),
        json.replace("2026-01", "1969-01"),
        format!("{}{json}", " ".repeat(MAX_RECORD_BYTES)),
        "[".repeat(MAX_RECORD_BYTES),
    ] {
        assert!(record(&bad).is_err(), "{bad}");
    }
    for bad in [
        NOTICE.replace("yank", "delete"),
        NOTICE.replace("wrong sign", "wrong\\nsign"),
        NOTICE.replace("wrong sign", &"x".repeat(MAX_REASON + 1)),
    ] {
        assert!(notice(&bad).is_err(), "{bad}");
    }
}

#[test]
fn when_it_was_published_does_not_make_another_record() {
    let first = record(&record_json()).unwrap();
    let later = record(&record_json().replace("2026", "2027")).unwrap();
    assert!(first.same_bundle(&later) && first != later);
    for other in [record_json().replace(HASH, &HASH.replace("64", "65")), record_json().replace(":3", ":4")] {
        assert!(!first.same_bundle(&record(&other).unwrap()));
    }
}

fn any_record() -> impl Strategy<Value = VersionRecord> {
    let version = ("[a-z][a-z0-9-]{0,62}", 0u64..1_000, 0u64..1_000, 0u64..1_000, "(-(rc|a-b)\\.[1-9][0-9]{0,3})?");
    let hashes = proptest::array::uniform2(proptest::array::uniform32(any::<u8>()));
    (version, hashes, 1..=MAX_BUNDLE_BYTES as u64, 0u64..400_000_000_000).prop_map(
        |((name, a, b, c, pre), [hash, identity], size, at)| VersionRecord {
            name: name.parse().unwrap(),
            version: format!("{a}.{b}.{c}{pre}").parse().unwrap(),
            hash: BundleHash(hash),
            size,
            data_identity: DataIdentity(identity),
            published_at: Timestamp::from_unix(at),
        },
    )
}

proptest! {
    #[test]
    fn records_are_read_back(record in any_record()) {
        let json = record.to_json();
        prop_assert!(json.len() <= MAX_RECORD_BYTES);
        prop_assert_eq!(VersionRecord::parse(json.as_bytes(), &record.name, &record.version), Ok(record));
    }

    #[test]
    fn notices_are_read_back(
        record in any_record(), seq in 1u32.., reason in "[^\\p{Cc}]{0,64}",
        kind in prop_oneof![Just(NoticeKind::Yank), Just(NoticeKind::Unyank), Just(NoticeKind::Advisory)],
    ) {
        let VersionRecord { name, version, published_at: at, .. } = record;
        let notice = Notice { name, seq, kind, version, reason, at };
        prop_assert_eq!(Notice::parse(notice.to_json().as_bytes(), &notice.name, seq), Ok(notice));
    }

    #[test]
    fn one_changed_byte_is_another_record_or_none(record in any_record(), at in any::<proptest::sample::Index>(), flip in 1u8..) {
        let mut bytes = record.to_json().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(other) = VersionRecord::parse(&bytes, &record.name, &record.version) {
            let json = other.to_json();
            prop_assert!(other != record && json.as_bytes() == bytes);
        }
    }
}
