//! JSON-RPC: heads, logs, headers, finality, retry, pool.
