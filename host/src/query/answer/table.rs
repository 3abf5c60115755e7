//! Answers for a terminal.

use super::cell::{Cell, cell, push_text};
use super::{Answer, AnswerColumn};

/// The narrowest that a column is made to fit the terminal.
const NARROWEST: usize = 8;

impl Answer {
    /// Aligned columns within `width` characters, then a line about where the rows came from. Numbers stand to the
    /// right; what does not fit ends in `…`; control characters are shown, not sent to the terminal.
    pub fn to_table(&self, width: usize) -> String {
        let mut lines = vec![self.columns.iter().map(|column| vec![shown(&column.name)]).collect::<Vec<_>>()];
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                let cells = batch.columns().iter().zip(&self.columns);
                lines.push(cells.map(|(array, column)| text(&cell(array, row, column.ty == "json"))).collect());
            }
        }
        let widths = fit(&lines, self.columns.len(), width);
        let mut out = String::new();
        for (place, row) in lines.iter().enumerate() {
            push_row(&mut out, row, &widths, &self.columns);
            if place == 0 {
                let rule: Vec<_> = widths.iter().map(|&width| "─".repeat(width + 2)).collect();
                out.push_str(&rule.join("┼"));
                out.push('\n');
            }
        }
        out.push_str(&self.footer());
        out
    }

    fn footer(&self) -> String {
        let rows = self.rows();
        let noun = if rows == 1 { "row" } else { "rows" };
        let reach = match (self.meta.as_of_block, &self.meta.reason) {
            (None, _) => "nothing is indexed yet".to_owned(),
            (Some(block), None) => format!("as of block {block}, complete"),
            (Some(block), Some(reason)) => format!("as of block {block}, {}", shown(reason)),
        };
        format!("({rows} {noun}; {} {}, {reach})\n", self.meta.nest, self.meta.version)
    }
}

/// A value's lines.
fn text(value: &Cell<'_>) -> Vec<String> {
    let mut text = String::new();
    match value {
        Cell::Null => text.push_str("NULL"),
        value => push_text(&mut text, value),
    }
    let mut lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(shown).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Text without anything that would steer a terminal.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            // Direction marks can make a terminal show other text than there is.
            c if c.is_control()
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

fn fit(lines: &[Vec<Vec<String>>], columns: usize, width: usize) -> Vec<usize> {
    let mut widths = vec![1; columns];
    for row in lines {
        for (place, cell) in row.iter().enumerate() {
            let longest = cell.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            widths[place] = widths[place].max(longest);
        }
    }
    let room = width.saturating_sub(columns * 3);
    while widths.iter().sum::<usize>() > room {
        // The widest gives way, down to the next widest.
        let Some(widest) = widths.iter().copied().max().filter(|&widest| widest > NARROWEST) else { break };
        let next = widths.iter().copied().filter(|&w| w < widest).max().unwrap_or(NARROWEST).max(NARROWEST);
        let wide = widths.iter().filter(|&&w| w == widest).count();
        let excess = (widths.iter().sum::<usize>() - room).div_ceil(wide);
        let new = widest.saturating_sub(excess).max(next);
        widths.iter_mut().filter(|w| **w == widest).for_each(|w| *w = new.min(widest - 1));
    }
    widths
}

fn push_row(out: &mut String, row: &[Vec<String>], widths: &[usize], columns: &[AnswerColumn]) {
    let height = row.iter().map(Vec::len).max().unwrap_or(1);
    for line in 0..height {
        let mut written = String::new();
        for (place, cell) in row.iter().enumerate() {
            if place > 0 {
                written.push('│');
            }
            let text = cell.get(line).map_or("", String::as_str);
            let text = cut(text, widths[place]);
            let padding = " ".repeat(widths[place] - text.chars().count());
            let (before, after) =
                if is_number(&columns[place].ty) { (padding.as_str(), "") } else { ("", padding.as_str()) };
            written.extend([" ", before, &text, after, " "]);
        }
        out.push_str(written.trim_end());
        out.push('\n');
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

fn is_number(ty: &str) -> bool {
    ty.starts_with("uint") || ty.starts_with("int") && ty != "interval" || ty.starts_with("decimal") || ty == "double"
}
