//! What a request asks of the store.

use axum::http::{HeaderMap, Method, Uri, header};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Bytes of an object.
    Get,
    /// What is known of an object.
    Head,
    /// An object is written.
    Put,
    /// Objects are deleted.
    Delete,
    /// Objects are listed.
    List,
    /// Anything else.
    Other,
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation.
    pub op: Op,
    /// Key of the object without the bucket; of several to delete all, one a line; of a listing the prefix.
    pub key: String,
    /// The `Range` that was asked for: first and last byte.
    pub range: Option<(u64, u64)>,
    /// Status of the answer; none where there was none.
    pub status: Option<u16>,
    /// Bytes of the request's body.
    pub sent: u64,
    /// Bytes of the answer's body.
    pub received: u64,
}

impl Call {
    /// Reads a request.
    pub(super) fn of(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Call {
        let path = uri.path().trim_start_matches('/');
        let key = path.split_once('/').map_or("", |(_, key)| key);
        let query = uri.query().unwrap_or_default();
        let (op, key) = match method.as_str() {
            "POST" if query.split('&').any(|part| part == "delete" || part == "delete=") => {
                (Op::Delete, deleted(&String::from_utf8_lossy(body)))
            }
            "GET" if key.is_empty() => (Op::List, prefix(query)),
            "GET" => (Op::Get, key.to_owned()),
            "HEAD" => (Op::Head, key.to_owned()),
            "PUT" if !key.is_empty() => (Op::Put, key.to_owned()),
            "DELETE" => (Op::Delete, key.to_owned()),
            _ => (Op::Other, key.to_owned()),
        };
        Call { op, key, range: range(headers), status: None, sent: body.len() as u64, received: 0 }
    }
}

/// The keys of a bulk deletion.
fn deleted(xml: &str) -> String {
    let keys = xml.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
    keys.map(|(key, _)| key).collect::<Vec<_>>().join("\n")
}

fn prefix(query: &str) -> String {
    let given = query.split('&').find_map(|part| part.strip_prefix("prefix="));
    given.unwrap_or_default().replace("%2F", "/")
}

fn range(headers: &HeaderMap) -> Option<(u64, u64)> {
    let text = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}
