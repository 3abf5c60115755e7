//! A view's SQL looked at before anything runs it.

use std::path::Path;

use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use nuthatch_registry::Manifest;

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

/// Says which SQL files in a nest folder's `views/` no view of the nest names: they are left out of its bundle.
pub fn warn_of_unnamed(folder: &Path, manifest: &Manifest) {
    for file in unnamed(folder, manifest) {
        tracing::warn!(
            "{} is in no [[views]] of nest.toml, so it is not part of the nest",
            folder.join(file).display()
        );
    }
}

fn unnamed(folder: &Path, manifest: &Manifest) -> Vec<String> {
    let named: Vec<String> = manifest.views.iter().map(|view| view.file.to_string()).collect();
    let Ok(entries) = std::fs::read_dir(folder.join("views")) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let files = names.filter(|name| name.ends_with(".sql")).map(|name| format!("views/{name}"));
    let mut found: Vec<String> = files.filter(|file| !named.contains(file)).collect();
    found.sort();
    found
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
