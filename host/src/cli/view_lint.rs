//! A view's SQL looked at before anything runs it.

use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// A view that is not one SELECT.
#[derive(Debug, thiserror::Error)]
pub enum ViewProblem {
    /// Not SQL.
    #[error("view '{view}' is not SQL: {reason}")]
    Syntax {
        /// The view.
        view: String,
        /// What the parser said, with line and column.
        reason: String,
    },
    /// Another statement, or several.
    #[error("view '{view}' is {found}; a view is one SELECT")]
    NotOneSelect {
        /// The view.
        view: String,
        /// What it is instead.
        found: String,
    },
}

/// Checks that a view's text is one SELECT.
pub fn check(view: &str, sql: &str) -> Result<(), ViewProblem> {
    let statements = Parser::parse_sql(&GenericDialect {}, sql)
        .map_err(|error| ViewProblem::Syntax { view: view.to_owned(), reason: error.to_string() })?;
    let found = match statements.as_slice() {
        [Statement::Query(_)] => return Ok(()),
        [] => "empty".to_owned(),
        [other] => {
            let text = other.to_string();
            format!("'{}…'", text.split_whitespace().next().unwrap_or_default())
        }
        several => format!("{} statements", several.len()),
    };
    Err(ViewProblem::NotOneSelect { view: view.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_select_passes_and_nothing_else() {
        for good in ["SELECT 1", "-- a\nWITH x AS (SELECT 1 AS a) SELECT a FROM x UNION ALL SELECT 2;"] {
            assert!(check("v", good).is_ok(), "{good}");
        }
        let problem = |sql| check("v", sql).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert_eq!(problem("SELECT 1; SELECT 2"), "view 'v' is 2 statements; a view is one SELECT");
        assert_eq!(problem("DROP TABLE t"), "view 'v' is 'DROP…'; a view is one SELECT");
        assert_eq!(problem("-- nothing"), "view 'v' is empty; a view is one SELECT");
        assert!(problem("SELECT 1 +").starts_with("view 'v' is not SQL: "));
    }
}
