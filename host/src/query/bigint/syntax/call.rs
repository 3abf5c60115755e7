//! Function calls as syntax.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
    ObjectNamePart,
};

/// `name(argument)`
pub(super) fn call(name: &str, argument: Expr) -> Expr {
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Whether an expression is a call of one of these functions.
pub(super) fn calls(expr: &Expr, names: &[&str]) -> bool {
    let Expr::Function(function) = expr else {
        return false;
    };
    let name = function.name.to_string();
    names.iter().any(|candidate| candidate.eq_ignore_ascii_case(&name))
}
