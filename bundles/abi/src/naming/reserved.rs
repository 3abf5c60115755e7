//! Words that do not stand for a column when they are written bare.

/// Sorted. Reserved in PostgreSQL, verbs of SQL, or read as something else than a column by the query engine's parser;
/// and the provenance columns that the host puts before a table's own.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "address", "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization",
    "between", "binary", "block_hash", "block_number", "block_timestamp", "both", "by", "case", "cast", "check",
    "cluster", "collate", "collation", "column", "concurrently", "constraint", "create", "cross", "cube",
    "current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp",
    "current_user", "default", "deferrable", "delete", "desc", "distinct", "distribute", "do", "drop", "else",
    "end", "except", "exclude", "exists", "explain", "false", "fetch", "for", "foreign", "freeze", "from", "full",
    "grant", "group", "having", "ilike", "in", "initially", "inner", "insert", "intersect", "interval", "into",
    "is", "isnull", "join", "lateral", "leading", "left", "like", "limit", "localtime", "localtimestamp",
    "log_index", "natural", "not", "notnull", "null", "offset", "on", "only", "or", "order", "outer", "overlaps",
    "placing", "primary", "references", "returning", "right", "rollup", "select", "session_user", "similar", "some",
    "sort", "struct", "symmetric", "system_user", "table", "tablesample", "then", "to", "top", "trailing", "trim",
    "true", "tx_hash", "tx_index", "union", "unique", "update", "user", "using", "values", "variadic", "verbose",
    "view", "when", "where", "window", "with",
];

/// Whether the name, in lower case, needs another form.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::RESERVED;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(RESERVED.is_sorted_by(|a, b| a < b));
    }
}
