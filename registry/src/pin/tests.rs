#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

const HASH: &str = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";

fn pin(text: &str) -> Result<Pin, BadPin> {
    text.parse()
}

#[test]
fn the_three_forms() {
    let name: NestName = "usdc".parse().unwrap();
    let hash: BundleHash = HASH.parse().unwrap();
    assert_eq!(pin("usdc"), Ok(Pin::latest(name.clone())));
    assert_eq!(pin("usdc@1.3.0").unwrap().want, Want::Version(Version::new(1, 3, 0)));
    assert_eq!(pin("usdc@2.0.0-rc.1").unwrap().want, Want::Version("2.0.0-rc.1".parse().unwrap()));
    assert_eq!(pin(&format!("usdc@{HASH}")), Ok(Pin::of(name.clone(), hash)));
    assert_eq!(pin(&format!("usdc@0x{HASH}")), Ok(Pin::of(name, hash)));
}

#[test]
fn nothing_else_is_a_pin() {
    let upper = HASH.to_uppercase();
    for bad in [
        "",
        "@",
        "@1.0.0",
        "usdc@",
        "usdc@@1.0.0",
        "usdc@1",
        "usdc@1.0",
        "usdc@^1.0.0",
        "usdc@1.0.0+build",
        "usdc@01.0.0",
        "usdc@v1.0.0",
        "usdc @1.0.0",
        "usdc@1.0.0 ",
        "../x@1.0.0",
        "usdc/..@1.0.0",
        "a\0@1.0.0",
        "usdс",
        "usdc@latest",
        "usdc@*",
        "usdc@sha256:00",
        "CON",
        "/etc",
    ] {
        assert!(pin(bad).is_err(), "{bad:?}");
    }
    for bad in [&HASH[1..], &HASH[..8], &upper, &format!("{HASH}0"), &format!("blake3:{HASH}"), &format!(" {HASH}")] {
        assert!(pin(&format!("usdc@{bad}")).is_err(), "{bad:?}");
    }
    // A hash alone names no nest.
    assert!(matches!(pin(HASH), Err(BadPin::Name(_))));
}

#[test]
fn the_beginning_of_a_hash_is_told_apart() {
    let message = pin(&format!("usdc@{}", &HASH[..12])).unwrap_err().to_string();
    assert_eq!(
        message,
        "'6437b3ac3846' is only the beginning of a hash; a pin needs all 64 digits, which 'nuthatch bundle list NAME' shows"
    );
    assert!(matches!(pin("usdc@0x6437"), Err(BadPin::ShortHash(_))));
    assert!(matches!(pin("usdc@1.x"), Err(BadPin::Want(_))));
    let escaped = pin("usdc@\u{1b}[31m").unwrap_err().to_string();
    assert!(!escaped.contains('\u{1b}'), "{escaped}");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        name in "[a-z][a-z0-9-]{0,62}",
        version in proptest::option::of((0u64..100, 0u64..100, 0u64..100, "(-(rc|beta)\\.[1-9][0-9]{0,3})?")),
        hash in proptest::option::of(proptest::array::uniform32(any::<u8>())),
    ) {
        let name: NestName = name.parse().unwrap();
        let want = match (version, hash) {
            (_, Some(hash)) => Want::Hash(BundleHash(hash)),
            (Some((a, b, c, pre)), None) => Want::Version(format!("{a}.{b}.{c}{pre}").parse().unwrap()),
            (None, None) => Want::Latest,
        };
        let made = Pin { name, want };
        prop_assert_eq!(made.to_string().parse::<Pin>(), Ok(made));
    }

    #[test]
    fn any_text_is_read_or_refused_on_one_line(text in "\\PC*|[a-z]{1,5}@\\PC*|[a-z]{1,5}@[0-9a-f.x-]{0,70}|.*") {
        match text.parse::<Pin>() {
            // The one other spelling that is accepted.
            Ok(pin) => prop_assert_eq!(pin.to_string(), text.replace("@0x", "@")),
            Err(error) => {
                let one_line = !error.to_string().contains(char::is_control);
                prop_assert!(one_line);
            }
        }
    }
}
