//! `^` is power, and binds tighter than `*`, as in Postgres.
//!
//! Some dialects parse it looser than `+`, so that `value / 10^18` would be `(value / 10)^18`. A chain of operators without
//! parentheses still tells its order of tokens, so it can be grouped again.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};

/// How tightly an operator on integers binds.
pub(super) fn precedence(op: &BinaryOperator) -> Option<u8> {
    Some(match op {
        BinaryOperator::BitwiseXor | BinaryOperator::PGExp => 4,
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => 3,
        BinaryOperator::Plus | BinaryOperator::Minus => 2,
        BinaryOperator::BitwiseAnd => 1,
        _ => return None,
    })
}

/// Whether a chain holds a caret that stands beside another operator.
fn has_caret(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryOp { left, op, right } if precedence(op).is_some() => {
            matches!(op, BinaryOperator::BitwiseXor) || has_caret(left) || has_caret(right)
        }
        _ => false,
    }
}

fn flatten(expr: Expr, operands: &mut Vec<Expr>, operators: &mut Vec<BinaryOperator>) {
    match expr {
        Expr::BinaryOp { left, op, right } if precedence(&op).is_some() => {
            flatten(*left, operands, operators);
            operators.push(op);
            flatten(*right, operands, operators);
        }
        other => operands.push(other),
    }
}

/// Groups a chain by precedence, from left to right. Does nothing to a chain without a caret.
pub(super) fn regroup(expr: &mut Expr) {
    if !has_caret(expr) {
        return;
    }
    let (mut operands, mut operators) = (Vec::new(), Vec::new());
    flatten(super::take(expr), &mut operands, &mut operators);
    let mut output: Vec<Expr> = Vec::new();
    let mut pending: Vec<BinaryOperator> = Vec::new();
    let reduce = |output: &mut Vec<Expr>, op: BinaryOperator| {
        if let (Some(right), Some(left)) = (output.pop(), output.pop()) {
            output.push(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) });
        }
    };
    let mut operators = operators.into_iter();
    for operand in operands {
        output.push(operand);
        let Some(next) = operators.next() else { break };
        while let Some(last) = pending.pop() {
            if precedence(&last) < precedence(&next) {
                pending.push(last);
                break;
            }
            reduce(&mut output, last);
        }
        pending.push(next);
    }
    while let Some(op) = pending.pop() {
        reduce(&mut output, op);
    }
    if let Some(grouped) = output.pop() {
        *expr = grouped;
    }
}
