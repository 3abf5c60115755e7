//! Hex literals: what fits which column.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;

use crate::query::error::{BadQuery, Flaw};

/// Whether values of this type are bytes: wide integers (`LargeBinary`) are not.
pub fn is_bytes(ty: &DataType) -> bool {
    matches!(ty, DataType::FixedSizeBinary(_) | DataType::Binary | DataType::BinaryView)
}

/// Whether values of this type are text.
pub fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The text of a literal, behind an alias or not.
pub fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text), _) => {
            text.as_deref()
        }
        Expr::Alias(alias) => literal(&alias.expr),
        _ => None,
    }
}

/// The bytes that a hex literal stands for, as a value of this type.
pub fn parse(text: &str, ty: &DataType) -> Result<ScalarValue, BadQuery> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let wanted = match ty {
        DataType::FixedSizeBinary(width) => Some(*width as usize),
        _ => None,
    };
    let bad = |what: String| {
        let kind = match wanted {
            Some(20) => "an address is 0x and 40 hex digits".to_owned(),
            Some(width) => format!("bytes{width} is 0x and {} hex digits", width * 2),
            None => "bytes are 0x and an even number of hex digits".to_owned(),
        };
        let shown: String = text.chars().take(80).collect();
        BadQuery::new(Flaw::Literal, format!("'{shown}' cannot be compared with bytes: {what}")).hint(kind)
    };
    let digits = digits.ok_or_else(|| bad("it does not begin with 0x".to_owned()))?;
    if let Some(strange) = digits.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(bad(format!("'{strange}' is no hex digit")));
    }
    if digits.len() % 2 == 1 || wanted.is_some_and(|width| digits.len() != width * 2) {
        return Err(bad(format!("it has {} hex digits", digits.len())));
    }
    let bytes = ::hex::decode(digits).map_err(|error| bad(error.to_string()))?;
    Ok(match ty {
        DataType::FixedSizeBinary(width) => ScalarValue::FixedSizeBinary(*width, Some(bytes)),
        DataType::BinaryView => ScalarValue::BinaryView(Some(bytes)),
        _ => ScalarValue::Binary(Some(bytes)),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn any_letter_case_is_taken() {
        let wanted = ScalarValue::FixedSizeBinary(2, Some(vec![0xa0, 0xbf]));
        for text in ["0xa0bf", "0xA0bF", "0XA0BF"] {
            assert_eq!(parse(text, &DataType::FixedSizeBinary(2)).unwrap(), wanted);
        }
        assert_eq!(parse("0x", &DataType::Binary).unwrap(), ScalarValue::Binary(Some(vec![])));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let address = DataType::FixedSizeBinary(20);
        for (text, ty, part) in [
            ("a0bf", &address, "does not begin with 0x"),
            ("0xa0bg", &address, "'g' is no hex digit"),
            ("0xa0b", &address, "it has 3 hex digits"),
            ("0x", &address, "it has 0 hex digits"),
            ("0xabc", &DataType::Binary, "it has 3 hex digits"),
            ("0xé0", &DataType::Binary, "'é' is no hex digit"),
        ] {
            let error = parse(text, ty).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.flaw, Flaw::Literal);
        }
        assert_eq!(parse("0x1", &address).unwrap_err().hint.unwrap(), "an address is 0x and 40 hex digits");
    }
}
