//! An answer as a table for a terminal.

use serde_json::Value;

use super::answer::JsonAnswer;

/// Columns are as wide as their widest value; numbers stand to the right.
pub fn table(answer: &JsonAnswer) -> String {
    let texts: Vec<Vec<String>> = answer
        .rows
        .iter()
        .map(|row| answer.columns.iter().map(|column| shown(row.get(&column.name).unwrap_or(&Value::Null))).collect())
        .collect();
    let widths: Vec<usize> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let widest = texts.iter().map(|row| width(&row[place])).max().unwrap_or_default();
            widest.max(width(&column.name))
        })
        .collect();
    let right: Vec<bool> = answer.columns.iter().map(|column| is_number(&column.ty)).collect();
    let mut text = String::new();
    let mut line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(place, cell)| {
                let blanks = " ".repeat(widths[place].saturating_sub(width(cell)));
                if right[place] { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
            })
            .collect();
        text.push_str(padded.join(" | ").trim_end());
        text.push('\n');
    };
    line(answer.columns.iter().map(|column| column.name.as_str()).collect());
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    line(rules.iter().map(String::as_str).collect());
    for row in &texts {
        line(row.iter().map(String::as_str).collect());
    }
    let rows = answer.rows.len();
    text.push_str(&format!("({rows} row{})\n", if rows == 1 { "" } else { "s" }));
    text
}

/// Characters; good enough where a terminal's wide ones are rare.
fn width(text: &str) -> usize {
    text.chars().count()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        // What a log says must not steer the terminal.
        Value::String(text) => {
            text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
        }
        other => other.to_string(),
    }
}

fn is_number(ty: &str) -> bool {
    ["int", "uint", "decimal", "float", "double"].iter().any(|prefix| ty.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn answer(json: Value) -> JsonAnswer {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn numbers_stand_right_and_text_left() {
        let shown = table(&answer(json!({
            "columns": [{"name": "event", "type": "string"}, {"name": "n", "type": "uint256"}],
            "rows": [{"event": "ü", "n": "115792089237316195423570985008687907853"}, {"event": null, "n": 1}],
        })));
        assert_eq!(
            shown,
            "event |                                       n\n\
             ----- | ---------------------------------------\n\
             ü     | 115792089237316195423570985008687907853\n\
             NULL  |                                       1\n\
             (2 rows)\n"
        );
    }

    #[test]
    fn control_characters_are_escaped_and_no_rows_still_name_columns() {
        let shown = table(&answer(json!({
            "columns": [{"name": "s", "type": "string"}], "rows": [{"s": "a\u{1b}[2J\nb"}],
        })));
        assert!(shown.contains("a\\u{1b}[2J\\nb\n(1 row)"), "{shown}");
        let none = table(&answer(json!({"columns": [{"name": "s", "type": "string"}], "rows": []})));
        assert_eq!(none, "s\n-\n(0 rows)\n");
    }
}
