#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::{Field, Schema};
use serde_json::{Value, json};

use super::{Answer, Meta};
use crate::model::{BlockNumber, BundleHash, ChainId, TYPE_KEY};

fn answer(columns: Vec<(&str, Option<&str>, ArrayRef)>) -> Answer {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, ty, array)| {
            let field = Field::new(*name, array.data_type().clone(), true);
            match ty {
                Some(ty) => field.with_metadata([(TYPE_KEY.to_owned(), (*ty).to_owned())].into()),
                None => field,
            }
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let meta = Meta {
        endpoint: "usdc".parse().unwrap(),
        nest: "usdc".parse().unwrap(),
        version: "1.0.0".to_owned(),
        bundle: BundleHash([1; 32]),
        chain_id: ChainId(1),
        first_block: BlockNumber(0),
        as_of_block: None,
        as_of_hash: None,
        complete: false,
        reason: Some("nothing is indexed yet".to_owned()),
    };
    Answer::new(&schema, vec![batch], meta)
}

fn value(array: impl Array + 'static, ty: Option<&str>) -> Value {
    let json: Value = serde_json::from_str(&answer(vec![("x", ty, Arc::new(array))]).to_json()).unwrap();
    json["rows"][0]["x"].clone()
}

#[test]
fn integers_beyond_53_bits_are_strings() {
    let safe = (1_i64 << 53) - 1;
    assert_eq!(value(Int64Array::from(vec![safe]), None), json!(safe));
    assert_eq!(value(Int64Array::from(vec![safe + 1]), None), json!("9007199254740992"));
    assert_eq!(value(Int64Array::from(vec![-safe]), None), json!(-safe));
    assert_eq!(value(Int64Array::from(vec![i64::MIN]), None), json!("-9223372036854775808"));
    assert_eq!(value(UInt64Array::from(vec![u64::MAX]), None), json!("18446744073709551615"));
    let decimal = Decimal128Array::from(vec![12_345]).with_precision_and_scale(38, 2).unwrap();
    assert_eq!(value(decimal, None), json!("123.45"));
}

#[test]
fn moments_are_iso_8601() {
    assert_eq!(value(TimestampSecondArray::from(vec![1_704_412_800]), None), json!("2024-01-05T00:00:00Z"));
    assert_eq!(value(TimestampSecondArray::from(vec![-1]), None), json!("1969-12-31T23:59:59Z"));
    assert_eq!(value(TimestampSecondArray::from(vec![i64::MAX]), None), json!("9223372036854775807"));
    assert_eq!(value(TimestampMicrosecondArray::from(vec![1_500_000]), None), json!("1970-01-01T00:00:01.500Z"));
    assert_eq!(value(Date32Array::from(vec![19_727]), None), json!("2024-01-05"));
}

#[test]
fn floats_text_bytes_and_json() {
    assert_eq!(value(Float64Array::from(vec![f64::NAN]), None), json!(null));
    assert_eq!(value(Float64Array::from(vec![f64::INFINITY]), None), json!(null));
    assert_eq!(value(Float64Array::from(vec![0.1]), None), json!(0.1));
    assert_eq!(value(Float32Array::from(vec![0.1]), None), json!(0.1));
    assert_eq!(value(StringArray::from(vec!["a\"\n\u{1}ü"]), None), json!("a\"\n\u{1}ü"));
    assert_eq!(value(BinaryArray::from_vec(vec![b"\xAB\x00"]), None), json!("0xab00"));
    assert_eq!(value(StringArray::from(vec!["[\"1\",{\"a\":2}]"]), Some("json")), json!(["1", {"a": 2}]));
    assert_eq!(value(StringArray::from(vec!["[broken"]), Some("json")), json!("[broken"));
    assert_eq!(value(BooleanArray::from(vec![None]), None), json!(null));
}

#[test]
fn columns_of_one_name_are_told_apart() {
    let one = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let answer = answer(vec![("a", None, one()), ("a", None, one()), ("a_2", None, one()), ("a", None, one())]);
    let names: Vec<_> = answer.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a", "a_3", "a_2", "a_4"]);
    let json: Value = serde_json::from_str(&answer.to_json()).unwrap();
    assert_eq!(json["rows"][0].as_object().unwrap().len(), 4);
}

#[test]
fn csv_quotes_what_needs_it() {
    let texts =
        StringArray::from(vec![Some("a,b"), Some("say \"hi\""), Some("two\nlines"), Some(""), None, Some(" x ")]);
    let numbers = Int64Array::from(vec![1, 2, 3, 4, 5, i64::MIN]);
    let answer = answer(vec![("text, all", None, Arc::new(texts)), ("n", None, Arc::new(numbers))]);
    assert_eq!(
        answer.to_csv(),
        "\"text, all\",n\r\n\"a,b\",1\r\n\"say \"\"hi\"\"\",2\r\n\"two\nlines\",3\r\n\"\",4\r\n,5\r\n\" x \",-9223372036854775808\r\n"
    );
}

#[test]
fn tables_align_and_keep_within_the_terminal() {
    let texts = StringArray::from(vec![Some("short"), Some("a text that is far too long for a narrow terminal"), None]);
    let numbers = Int64Array::from(vec![7, 12_345, -1]);
    let answer = answer(vec![("name", None, Arc::new(texts)), ("n", None, Arc::new(numbers))]);
    let table = answer.to_table(30);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], " name                │     n");
    assert_eq!(lines[2], " short               │     7");
    assert_eq!(lines[3], " a text that is far… │ 12345");
    assert_eq!(lines[4], " NULL                │    -1");
    assert!(lines.iter().take(5).all(|line| line.chars().count() <= 30), "{table}");
    assert!(answer.to_table(200).contains("narrow terminal"));
    assert!(lines[5].starts_with("(3 rows; usdc 1.0.0, nothing is indexed yet"), "{table}");
}

#[test]
fn nothing_in_a_table_steers_the_terminal() {
    let hostile = StringArray::from(vec!["\u{1b}[2Jgone\u{202e}abc\r"]);
    let table = answer(vec![("x", None, Arc::new(hostile))]).to_table(100);
    assert!(!table.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{table:?}");
    assert!(table.contains("\\u{1b}[2Jgone"), "{table}");
}
