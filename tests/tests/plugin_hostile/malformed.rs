//! Results that do not hold together: item 7 of the list. Each names its table, column and row or its log.

use crate::evil_fault;

fn spoiled(what: &str) -> String {
    let text = evil_fault(&format!("spoil:{what}"));
    text.strip_prefix("invalid-output: invalid output: ").unwrap_or_else(|| panic!("{what}: {text}")).to_owned()
}

fn accounted(what: &str) -> String {
    let text = evil_fault(&format!("accounts:{what}"));
    text.strip_prefix("invalid-output: invalid output: ").unwrap_or_else(|| panic!("{what}: {text}")).to_owned()
}

/// The faults are found in batches of one log, because halving goes down to there; those that take two logs to show
/// stay at two.
#[test]
fn each_spoiled_column_is_named() {
    let column = |name: &str, problem: &str| format!("table 'evil__logs', column '{name}'{problem}");
    for (what, expected) in [
        ("column-missing", "table 'evil__logs' has 12 columns, and 13 are declared".to_owned()),
        ("column-extra", "table 'evil__logs' has 14 columns, and 13 are declared".to_owned()),
        ("bits-short", column("flag", ": 0 bytes of values, and 1 rows take 1")),
        ("bits-tail", column("flag", ": bits behind the last row are set in the values")),
        ("wrong-case", column("number", ": values are 's64s', and uint64 takes 'u64s'")),
        ("wrong-width", column("who", ": values are 32 bytes wide, and address takes 20")),
        ("width-zero", column("who", ": values are 0 bytes wide, and address takes 20")),
        ("fixed-short", column("value", ": 31 bytes of values, and 1 rows take 32")),
        ("signed-short", column("signed", ": 0 bytes of values, and 1 rows take 32")),
        ("offsets-missing", column("note", ": 1 offsets, and 1 rows take 2")),
        ("offsets-none", column("note", ": 0 offsets, and 1 rows take 2")),
        ("offsets-start", column("note", ": the first offset is 1, and 0 is expected")),
        ("offsets-fall", column("note", ": the last offset is 4294967295, and there are 17 bytes of values")),
        ("offsets-end", column("note", ": the last offset is 17, and there are 18 bytes of values")),
        ("not-utf8", column("note", ", row 0: the text is not UTF-8")),
        ("nul", column("note", ", row 0: the text holds NUL")),
        ("validity-short", column("note", ": validity has 0 bytes, and 1 rows take 1")),
        ("validity-tail", column("note", ": bits behind the last row are set in the validity")),
        ("null", column("number", ", row 0: NULL, and the column is not nullable")),
        ("uint-range", column("small", ", row 0: the value is not one of uint8")),
        ("int-range", column("step", ", row 0: the value is not one of int24")),
        ("decimal-range", column("price", ", row 0: the value is not one of decimal(38,4)")),
        ("large-decimal-range", column("large_price", ", row 0: the value is not one of decimal(76,10)")),
        ("time-range", column("at", ", row 0: the value is not one of timestamp")),
        ("source-range", "table 'evil__logs', row 0: source 1 is not one of the batch's 1 logs".to_owned()),
        ("table-unknown", "rows for table number 2, and the nest has 2 tables".to_owned()),
        ("table-twice", "table 'evil__logs' comes twice in one result".to_owned()),
    ] {
        assert_eq!(spoiled(what), expected, "{what}");
    }
}

/// These need more than one log to be wrong: the nest is quarantined at the smallest batch that shows it.
#[test]
fn what_two_logs_show_together_is_named_too() {
    let together = " (the 2 logs up to block 12, log 1 fail together though each half of them is decoded: the rows of \
                    a log may depend on that log alone)";
    for (what, expected) in [
        ("source-falls", "table 'evil__logs', row 1: source 0 comes after source 1, and sources may not fall"),
        ("split-utf8", "table 'evil__logs', column 'note', row 0: the text is not UTF-8"),
        ("column-short", "table 'evil__logs', column 'number': 1 items of values, and 2 rows take 2"),
        ("validity-long", "table 'evil__logs', column 'note': validity has 2 bytes, and 2 rows take 1"),
    ] {
        let text = spoiled(what);
        assert_eq!(text.strip_suffix(together), Some(expected), "{what}: {text}");
    }
}

/// I16: a log without a place, or with two, makes the output invalid.
#[test]
fn each_log_has_one_place() {
    for (what, expected) in [
        ("none", "log 0 is neither a source of rows nor rejected nor ignored"),
        ("source-and-ignored", "log 0 is a source of rows and ignored; each log has one place"),
        ("source-and-rejected", "log 0 is a source of rows and rejected; each log has one place"),
        ("rejected-twice", "log 0 is rejected and rejected; each log has one place"),
        ("ignored-twice", "log 0 is ignored and ignored; each log has one place"),
        ("rejected-range", "log 1 is named as rejected, and the batch has 1 logs"),
        ("ignored-range", "log 4294967295 is named as ignored, and the batch has 1 logs"),
    ] {
        assert_eq!(accounted(what), expected, "{what}");
    }
}

#[test]
fn each_reason_has_a_code() {
    let long = "a".repeat(33);
    for (what, code) in [
        ("code-upper", "Bad-Code"),
        ("code-empty", ""),
        ("code-long", long.as_str()),
        ("code-hyphens", "a--b"),
        ("code-control", "a\\u{1b}[31m"),
    ] {
        let expected = format!("log 0 is rejected with code '{code}'; a code is kebab-case, 32 bytes at most");
        assert_eq!(accounted(what), expected, "{what}");
    }
    assert_eq!(accounted("detail-long"), "log 0 is rejected with a detail of 2000 bytes, and at most 1024 are allowed");
    assert_eq!(
        accounted("detail-utf8"),
        "the result breaks the component model's rules: invalid utf-8 sequence of 1 bytes from index 1"
    );
}

#[test]
fn a_description_that_no_store_could_hold_is_refused() {
    let plugin = nuthatch_tests::guests::host(Default::default()).load(&nuthatch_tests::guests::evil()).unwrap();
    let error = plugin.describe(b"describe-bad-type").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "invalid output: the description does not hold together: column 'number' of table 'evil__logs': 'uint7' \
             is not a column type"
        ),
        "{error}"
    );
}
