//! SQL over HTTP, against a running `dev`.

use std::time::Duration;

use nuthatch_registry::NestName;
use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use url::Url;

use super::refusal::ErrorAnswer;
use crate::cli::Usage;

/// A server and the nest that is asked.
pub struct Remote {
    base: Url,
    nest: NestName,
    client: reqwest::Client,
}

#[derive(Deserialize)]
struct Index {
    nests: Vec<IndexedNest>,
}

#[derive(Deserialize)]
struct IndexedNest {
    name: NestName,
}

/// Who gives an answer within this time lives; queries themselves have the server's own time limit.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

impl Remote {
    /// Finds the nest: the one that is named, or the only one that is there.
    pub async fn connect(base: Url, nest: Option<NestName>) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).build()?;
        let nest = match nest {
            Some(nest) => nest,
            None => only_nest(&client, &base).await?,
        };
        Ok(Remote { base, nest, client })
    }

    /// The nest that is asked.
    pub fn nest(&self) -> &NestName {
        &self.nest
    }

    /// The server.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// The answer as the server writes it: JSON or CSV.
    pub async fn text(&self, sql: &str, media_type: &str) -> anyhow::Result<String> {
        let url = at(&self.base, &["nests", self.nest.as_str(), "sql"])?;
        let request = self.client.post(url).header(ACCEPT, media_type).body(sql.to_owned());
        let response = request.send().await.map_err(|error| unreachable(&self.base, error))?;
        Ok(checked(response).await?.text().await?)
    }
}

async fn only_nest(client: &reqwest::Client, base: &Url) -> anyhow::Result<NestName> {
    let request = client.get(at(base, &["nests"])?).header(ACCEPT, "application/json");
    let response = request.send().await.map_err(|error| unreachable(base, error))?;
    let index: Index = checked(response)
        .await?
        .json()
        .await
        .map_err(|_| anyhow::anyhow!("{base} did not answer as nuthatch does; check --url"))?;
    let names: Vec<NestName> = index.nests.into_iter().map(|nest| nest.name).collect();
    super::local::only(&names, base.as_str())
}

fn at(base: &Url, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| Usage::error(format!("{base} is not a URL of HTTP; --url looks like http://127.0.0.1:8288")))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

fn unreachable(base: &Url, error: reqwest::Error) -> anyhow::Error {
    let refused = error.is_connect();
    let error = anyhow::Error::new(error.without_url()).context(format!("{base} cannot be reached"));
    if refused {
        crate::cli::Hinted::error(
            error,
            "start `nuthatch dev` first, name another server with --url, or read a data folder with --dir",
        )
    } else {
        error
    }
}

/// A refusal becomes an error with the server's own words.
async fn checked(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let text = response.text().await.unwrap_or_default();
    match serde_json::from_str::<ErrorAnswer>(&text) {
        Ok(answer) => Err(answer.into()),
        Err(_) => Err(anyhow::anyhow!(unexplained(status, &text))),
    }
}

fn unexplained(status: StatusCode, text: &str) -> String {
    match text.trim() {
        "" => format!("the server answered {status}"),
        text => format!("the server answered {status}: {}", text.chars().take(500).collect::<String>()),
    }
}
