//! SQL statements out of text that arrives line by line.

/// Takes text, gives statements: what stands between semicolons that are not quoted or commented out.
#[derive(Debug, Default)]
pub struct Statements {
    text: String,
    /// Bytes of `text` that are scanned.
    scanned: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    /// Inside quotes of this kind. A doubled quote ends and begins again, which comes to the same.
    Quoted(u8),
    LineComment,
    /// Inside so many block comments.
    BlockComment(u32),
}

impl Statements {
    /// Adds text; gives the statements that it completes, without their semicolons.
    pub fn push(&mut self, text: &str) -> Vec<String> {
        self.text.push_str(text);
        let mut complete = Vec::new();
        while let Some(&byte) = self.text.as_bytes().get(self.scanned) {
            let next = self.text.as_bytes().get(self.scanned + 1).copied();
            // A pair may yet be completed by the text to come.
            if next.is_none() && matches!(byte, b'-' | b'/' | b'*') {
                break;
            }
            let mut width = 1;
            self.state = match (self.state, byte, next) {
                (State::Plain, b';', _) => {
                    let rest = self.text.split_off(self.scanned + 1);
                    let mut statement = std::mem::replace(&mut self.text, rest);
                    statement.pop();
                    if !is_blank(&statement) {
                        complete.push(statement.trim().to_owned());
                    }
                    self.scanned = 0;
                    width = 0;
                    State::Plain
                }
                (State::Plain, b'\'' | b'"', _) => State::Quoted(byte),
                (State::Plain, b'-', Some(b'-')) => State::LineComment,
                (State::Plain, b'/', Some(b'*')) => {
                    width = 2;
                    State::BlockComment(1)
                }
                (State::Quoted(quote), _, _) if quote == byte => State::Plain,
                (State::LineComment, b'\n', _) => State::Plain,
                (State::BlockComment(depth), b'/', Some(b'*')) => {
                    width = 2;
                    State::BlockComment(depth + 1)
                }
                (State::BlockComment(depth), b'*', Some(b'/')) => {
                    width = 2;
                    if depth == 1 { State::Plain } else { State::BlockComment(depth - 1) }
                }
                (state, _, _) => state,
            };
            self.scanned += width;
        }
        complete
    }

    /// Whether nothing is begun.
    pub fn is_empty(&self) -> bool {
        is_blank(&self.text)
    }

    /// What stands after the last semicolon, if it is more than blanks and comments.
    pub fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(self).text;
        (!is_blank(&rest)).then(|| rest.trim().to_owned())
    }

    /// Forgets what is begun.
    pub fn clear(&mut self) {
        *self = Statements::default();
    }
}

/// Whether there is nothing but blanks and comments.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        if rest.starts_with("--") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after).trim_start();
        } else if rest.starts_with("/*") {
            match block_comment_end(rest) {
                Some(end) => rest = rest[end..].trim_start(),
                // Unclosed: something is begun.
                None => return false,
            }
        } else {
            return rest.is_empty();
        }
    }
}

fn block_comment_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0u32, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (Vec<String>, Option<String>) {
        let mut statements = Statements::default();
        let complete = statements.push(text);
        (complete, statements.finish())
    }

    #[test]
    fn only_bare_semicolons_end_a_statement() {
        let text = "select ';''' as \"a;b\" -- c;\n, 2 /* ; /* ; */ ; */ ; select 1;; -- d\n ; select 'ü'";
        let (complete, rest) = split(text);
        assert_eq!(complete, ["select ';''' as \"a;b\" -- c;\n, 2 /* ; /* ; */ ; */", "select 1"]);
        assert_eq!(rest.as_deref(), Some("select 'ü'"));
    }

    #[test]
    fn the_cut_does_not_matter() {
        let text = "select 'a;' - 1 /* x; */ -- ;\n;select 2 / 1; /* y */ select * from t";
        let whole = split(text);
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut statements = Statements::default();
            let mut complete = statements.push(&text[..at]);
            complete.extend(statements.push(&text[at..]));
            assert_eq!((complete, statements.finish()), whole, "cut at {at}");
        }
    }

    #[test]
    fn comments_alone_are_no_statement() {
        for blank in ["", "  \n", "-- x", "/* a /* b */ c */ -- d\n", ";;"] {
            assert_eq!(split(blank), (Vec::new(), None), "{blank:?}");
        }
        let mut begun = Statements::default();
        begun.push("/* open");
        assert!(!begun.is_empty());
        begun.clear();
        assert!(begun.is_empty());
        assert_eq!(begun.push("select 1;"), ["select 1"]);
    }
}
