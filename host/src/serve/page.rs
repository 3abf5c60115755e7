//! `/nests/{name}/tables/{table}`: rows a page at a time, without SQL.
//!
//! Parameters: any column with a value (`from_=0xA0b8…`), or with `_ne`, `_gt`, `_gte`, `_lt`, `_lte` or `_in` behind
//! its name; `order` (`asc`, the default, or `desc`, by block and log), `limit` (1 to 10,000, default 100), `cursor`
//! (`next` of the page before), `format`.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use super::Shared;
use super::reply::{Failure, Format, page};
use super::sql::nest;
use crate::query::{Filter, Next, PageKey, PageOrder, PageRequest};

const DEFAULT_LIMIT: usize = 100;
const MOST: usize = 10_000;

/// `GET /nests/{name}/tables/{table}`
pub async fn get(
    State(app): State<Shared>,
    Path((name, table)): Path<(String, String)>,
    Query(parameters): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let Parameters { request, format, seal } = read(table, parameters)?;
    let format = Format::wanted(format.as_deref(), &headers)?;
    let found = app.engine.page(&nest(&name)?, request).await.map_err(Failure::of_table)?;
    let next = match found.next {
        Next::After(key) => Some(seal.cursor(key)),
        Next::End | Next::Unordered => None,
    };
    let more = found.next != Next::End;
    let mut response = page(found.answer, format, next.as_deref(), more);
    if let Some(next) = next.and_then(|next| HeaderValue::from_str(&next).ok()) {
        response.headers_mut().insert("x-next-cursor", next);
    }
    Ok(response)
}

struct Parameters {
    request: PageRequest,
    format: Option<String>,
    seal: Seal,
}

fn read(table: String, parameters: Vec<(String, String)>) -> Result<Parameters, Failure> {
    let mut request =
        PageRequest { table, filters: Vec::new(), order: PageOrder::Ascending, limit: DEFAULT_LIMIT, after: None };
    let (mut cursor, mut format) = (None, None);
    for (key, value) in parameters {
        match key.as_str() {
            "order" => {
                request.order = match value.as_str() {
                    "asc" => PageOrder::Ascending,
                    "desc" => PageOrder::Descending,
                    _ => return Err(Failure::bad("order", format!("'{value}' is no order")).hint("asc and desc are")),
                }
            }
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                request.limit = limit
                    .ok_or_else(|| Failure::bad("limit", format!("'{value}' is no number of rows from 1 to {MOST}")))?;
            }
            "cursor" => cursor = Some(value),
            "format" => format = Some(value),
            _ => request.filters.push(Filter { key, value }),
        }
    }
    let seal = Seal::of(&request);
    request.after = cursor.map(|cursor| seal.open(&cursor)).transpose()?;
    Ok(Parameters { request, format, seal })
}

/// Ties a cursor to the request it belongs to.
struct Seal([u8; 4]);

impl Seal {
    fn of(request: &PageRequest) -> Self {
        let mut hasher = blake3::Hasher::new();
        let order = match request.order {
            PageOrder::Ascending => "asc",
            PageOrder::Descending => "desc",
        };
        let filters = request.filters.iter().flat_map(|filter| [filter.key.as_str(), filter.value.as_str()]);
        for part in [request.table.as_str(), order].into_iter().chain(filters) {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        let hash = hasher.finalize();
        let [a, b, c, d, ..] = *hash.as_bytes();
        Seal([a, b, c, d])
    }

    fn cursor(&self, key: PageKey) -> String {
        let mut bytes = self.0.to_vec();
        bytes.extend_from_slice(&key.block.to_be_bytes());
        bytes.extend_from_slice(&key.log.to_be_bytes());
        hex::encode(bytes)
    }

    fn open(&self, cursor: &str) -> Result<PageKey, Failure> {
        let bad = |what: &str| {
            Failure::bad("cursor", format!("this cursor {what}"))
                .hint("give 'next' of the page before, with the same table, filters and order")
        };
        let mut bytes = [0; 20];
        hex::decode_to_slice(cursor, &mut bytes).map_err(|_| bad("is none of ours"))?;
        let (seal, key) = bytes.split_at(4);
        if seal != self.0 {
            return Err(bad("belongs to another request"));
        }
        let number = |at: usize| key[at..at + 8].iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
        Ok(PageKey { block: number(0), log: number(8) })
    }
}
