//! Parses one statement and refuses everything but reading.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DescribeAlias, Expr, ObjectName, Query, Select, SetExpr, ShowStatementFilter, ShowStatementFilterPosition,
    ShowStatementOptions, Statement, TableFactor, Visit, Visitor,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::error::{BadQuery, Flaw, Position};
use super::limits::QueryLimits;

/// Nested parentheses and subqueries that the parser follows.
const PARSE_DEPTH: usize = 64;

/// A statement that only reads.
#[derive(Clone, Debug)]
pub enum Request {
    /// Run it: a query, or an EXPLAIN of one.
    Run(Statement),
    /// List the columns that the query would have.
    Describe(Statement),
    /// List the tables whose names match a LIKE pattern.
    ShowTables {
        /// The pattern; none matches all.
        pattern: Option<String>,
    },
    /// List one table's columns whose names match a LIKE pattern.
    ShowColumns {
        /// The table as written.
        table: ObjectName,
        /// The pattern; none matches all.
        pattern: Option<String>,
    },
}

/// The tokens of a statement, for placing errors.
#[derive(Clone, Debug, Default)]
pub struct Tokens(Vec<TokenWithSpan>);

impl Tokens {
    /// The first place where `name` stands as an identifier or a literal.
    pub fn find(&self, name: &str) -> Option<Position> {
        let exact = |word: &str, quoted: bool| if quoted { word == name } else { word.eq_ignore_ascii_case(name) };
        self.0.iter().find_map(|token| match &token.token {
            Token::Word(word) if exact(&word.value, word.quote_style.is_some()) => position(token.span.start),
            Token::SingleQuotedString(text) if text == name => position(token.span.start),
            _ => None,
        })
    }

    /// The words at and just before a place.
    pub fn words_near(&self, place: Position) -> Vec<String> {
        let meaningful: Vec<_> = self.0.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).collect();
        let at = meaningful
            .iter()
            .position(|t| position(t.span.start) == Some(place))
            .unwrap_or(meaningful.len().saturating_sub(1));
        meaningful[at.saturating_sub(1)..]
            .iter()
            .take(2)
            .rev()
            .filter_map(|token| match &token.token {
                Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
                _ => None,
            })
            .collect()
    }
}

fn position(location: Location) -> Option<Position> {
    (location.line > 0).then_some(Position { line: location.line, column: location.column })
}

/// Splits a text into tokens.
pub fn tokens(sql: &str, limits: &QueryLimits) -> Result<Tokens, BadQuery> {
    if sql.len() > limits.statement {
        return Err(BadQuery::new(
            Flaw::NotAllowed,
            format!("the statement is {} bytes long; at most {} are taken", sql.len(), limits.statement),
        ));
    }
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().map_err(|error| {
        BadQuery::new(Flaw::Syntax, format!("syntax error: {}", error.message)).at(position(error.location))
    })?;
    let chained = tokens.iter().filter(|token| chains(&token.token)).count();
    if chained > limits.operators {
        return Err(BadQuery::new(
            Flaw::NotAllowed,
            format!("the statement chains {chained} operators; at most {} are taken", limits.operators),
        )
        .hint("a long list of values can be written as IN (…)"));
    }
    Ok(Tokens(tokens))
}

/// Whether the token can make the tree of the statement one level deeper.
fn chains(token: &Token) -> bool {
    match token {
        Token::Word(word) if word.quote_style.is_none() => matches!(
            word.keyword,
            Keyword::AND
                | Keyword::OR
                | Keyword::XOR
                | Keyword::NOT
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::MINUS
                | Keyword::JOIN
                | Keyword::DIV
                | Keyword::COLLATE
                | Keyword::IS
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::IN
                | Keyword::BETWEEN
                | Keyword::AT
                | Keyword::PIVOT
                | Keyword::UNPIVOT
        ),
        Token::Word(_)
        | Token::EOF
        | Token::Number(..)
        | Token::Whitespace(_)
        | Token::Comma
        | Token::SemiColon
        | Token::Period
        | Token::LParen
        | Token::RParen
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::HexStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::RBracket => false,
        _ => true,
    }
}

/// Parses one statement that only reads.
pub fn check(tokens: &Tokens) -> Result<Request, BadQuery> {
    let mut statements = Parser::new(&GenericDialect {})
        .with_recursion_limit(PARSE_DEPTH)
        .with_tokens_with_locations(tokens.0.clone())
        .parse_statements()
        .map_err(syntax)?;
    let statement = match (statements.pop(), statements.len()) {
        (None, _) => return Err(BadQuery::new(Flaw::Syntax, "there is no statement").hint("for example SHOW TABLES")),
        (Some(statement), 0) => statement,
        (Some(_), more) => {
            return Err(BadQuery::new(
                Flaw::NotAllowed,
                format!("there are {} statements; one at a time is taken", more + 1),
            ));
        }
    };
    let request = readable(statement)?;
    let (Request::Run(statement) | Request::Describe(statement)) = &request else { return Ok(request) };
    match statement.visit(&mut OnlyReads) {
        ControlFlow::Continue(()) => Ok(request),
        ControlFlow::Break(refused) => Err(*refused),
    }
}

fn syntax(error: ParserError) -> BadQuery {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return BadQuery::new(
                Flaw::NotAllowed,
                format!("the statement nests deeper than {PARSE_DEPTH} levels of parentheses and subqueries"),
            );
        }
    };
    let (message, position) = match text.split_once(" at Line: ") {
        Some((message, place)) => {
            let mut numbers = place.split(", Column: ").map(|n| n.trim().parse().ok());
            let position = match (numbers.next().flatten(), numbers.next().flatten()) {
                (Some(line), Some(column)) => Some(Position { line, column }),
                _ => None,
            };
            (message.to_owned(), position)
        }
        None => (text, None),
    };
    BadQuery::new(Flaw::Syntax, format!("syntax error: {message}")).at(position)
}

const TAKEN: &str = "SELECT, WITH, VALUES, EXPLAIN, SHOW TABLES, SHOW COLUMNS and DESCRIBE are taken";

fn refused(what: impl std::fmt::Display) -> BadQuery {
    BadQuery::new(Flaw::NotAllowed, format!("{what} is not allowed: queries only read")).hint(TAKEN)
}

fn readable(statement: Statement) -> Result<Request, BadQuery> {
    match statement {
        Statement::Query(_) => Ok(Request::Run(statement)),
        Statement::Explain { describe_alias: DescribeAlias::Explain, statement: ref inner, .. } => match **inner {
            Statement::Query(_) => Ok(Request::Run(statement)),
            ref other => Err(refused(format!("EXPLAIN of {}", first_words(other)))),
        },
        Statement::Explain { statement: inner, .. } => match *inner {
            Statement::Query(_) => Ok(Request::Describe(*inner)),
            ref other => Err(refused(format!("DESCRIBE of {}", first_words(other)))),
        },
        Statement::ExplainTable { table_name, .. } => Ok(Request::ShowColumns { table: table_name, pattern: None }),
        Statement::ShowTables { show_options, .. } => Ok(Request::ShowTables { pattern: pattern(&show_options)? }),
        Statement::ShowColumns { show_options, .. } => {
            let table = show_options.show_in.as_ref().and_then(|scope| scope.parent_name.clone()).ok_or_else(|| {
                BadQuery::new(Flaw::Syntax, "SHOW COLUMNS needs a table").hint("write SHOW COLUMNS FROM TABLE")
            })?;
            Ok(Request::ShowColumns { table, pattern: pattern(&show_options)? })
        }
        other => Err(refused(first_words(&other))),
    }
}

/// What kind of statement it is, as its author wrote it.
fn first_words(statement: &Statement) -> String {
    let text = statement.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    match words.as_slice() {
        [first @ ("CREATE" | "DROP" | "ALTER" | "SHOW"), second] => format!("{first} {second}"),
        [first, ..] => (*first).to_owned(),
        [] => "this statement".to_owned(),
    }
}

fn pattern(options: &ShowStatementOptions) -> Result<Option<String>, BadQuery> {
    let filter = match &options.filter_position {
        None => return Ok(None),
        Some(ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter)) => filter,
    };
    match filter {
        ShowStatementFilter::Like(text) | ShowStatementFilter::ILike(text) | ShowStatementFilter::NoKeyword(text) => {
            Ok(Some(text.clone()))
        }
        ShowStatementFilter::Where(_) => Err(BadQuery::new(Flaw::NotAllowed, "SHOW takes LIKE, not WHERE")
            .hint("query information_schema.tables or information_schema.columns instead")),
    }
}

/// Finds what would write or reach outside, wherever in the statement it hides.
struct OnlyReads;

impl OnlyReads {
    fn stop(bad: BadQuery) -> ControlFlow<Box<BadQuery>> {
        ControlFlow::Break(Box::new(bad))
    }
}

impl Visitor for OnlyReads {
    type Break = Box<BadQuery>;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Self::Break> {
        match statement {
            Statement::Query(_) | Statement::Explain { .. } => ControlFlow::Continue(()),
            other => Self::stop(refused(first_words(other))),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        if !query.locks.is_empty() {
            return Self::stop(refused("FOR UPDATE"));
        }
        if query.settings.is_some() {
            return Self::stop(refused("SETTINGS"));
        }
        match query.body.as_ref() {
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) | SetExpr::Merge(inner) => {
                Self::stop(refused(first_words(inner)))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        if select.into.is_some() { Self::stop(refused("SELECT INTO")) } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        let function = match factor {
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => name.to_string(),
            TableFactor::TableFunction { expr, .. } => expr.to_string(),
            _ => return ControlFlow::Continue(()),
        };
        let bad = BadQuery::new(Flaw::NotAllowed, format!("there are no table functions here, {function} included"));
        Self::stop(bad.hint("SHOW TABLES lists what can be queried"))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        match expr {
            Expr::Identifier(name) if name.value.starts_with('@') && name.quote_style.is_none() => {
                Self::stop(BadQuery::new(Flaw::NotAllowed, format!("there are no variables here, {name} included")))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// How many table reads a statement comes to once CTEs are written out, given what each view comes to.
pub fn weight(statement: &Statement, views: &HashMap<String, u64>) -> u64 {
    let mut weights = Weights { known: views.clone(), ..Weights::default() };
    let _: ControlFlow<()> = statement.visit(&mut weights);
    weights.total
}

#[derive(Default)]
struct Weights {
    /// Views, and CTEs as they are left.
    known: HashMap<String, u64>,
    /// CTEs that are not left yet, by the place of their query in memory.
    named: HashMap<*const Query, String>,
    /// Totals of the queries around.
    outer: Vec<u64>,
    total: u64,
}

impl Visitor for Weights {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.named.insert(std::ptr::from_ref(cte.query.as_ref()), cte.alias.name.value.to_lowercase());
        }
        self.outer.push(std::mem::replace(&mut self.total, 1));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let outer = self.outer.pop().unwrap_or(0);
        match self.named.remove(&std::ptr::from_ref(query)) {
            Some(name) => {
                // Of two CTEs of one name the heavier counts: which one is meant is the planner's business.
                let known = self.known.entry(name).or_insert(0);
                *known = self.total.max(*known);
                self.total = outer;
            }
            None => self.total = self.total.saturating_add(outer),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let name = relation.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.to_lowercase());
        let weight = name.and_then(|name| self.known.get(&name).copied()).unwrap_or(1);
        self.total = self.total.saturating_add(weight);
        ControlFlow::Continue(())
    }
}
