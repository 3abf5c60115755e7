//! Buckets of S3-compatible stores: how one is opened, and what its errors say.

use std::error::Error;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use url::Url;

use super::told::Told;

/// Tries of one request after the first. More would only keep trouble from being told: the callers try again.
const RETRIES: usize = 3;
/// No try begins later than this after the first.
const RETRY_WITHIN: Duration = Duration::from_secs(10);

/// Opens `bucket/prefix`. Credentials, region, endpoint and the longest time of a request come from the environment.
pub(super) fn open(place: &str) -> Result<PrefixStore<Told<AmazonS3>>, String> {
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let plain_http = std::env::var("AWS_ENDPOINT_URL")
        .or_else(|_| std::env::var("AWS_ENDPOINT"))
        .is_ok_and(|endpoint| endpoint.starts_with("http://"));
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_WITHIN, ..RetryConfig::default() };
    let store = AmazonS3Builder::from_env().with_bucket_name(bucket).with_allow_http(plain_http).with_retry(retry);
    let store = store.build().map_err(|error| reason(&error))?;
    let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|error| error.to_string())?;
    Ok(PrefixStore::new(Told(store), prefix))
}

/// What went wrong, in one line. Of a request its method and host: the rest of a URL may hold a signature, and the body
/// of a refusal may repeat what was signed and with which key.
pub(super) fn reason(error: &object_store::Error) -> String {
    let text = error.to_string();
    let (request, mut said) = parted(&text);
    let cause = deepest(error);
    let (_, cause) = parted(&cause);
    if !said.contains(&cause) {
        said = format!("{said}: {cause}");
    }
    match request {
        Some(request) => format!("{request}: {said}"),
        None => said,
    }
}

/// What the client was at, and what came of it.
fn parted(text: &str) -> (Option<String>, String) {
    match text.rsplit_once("Error performing ").and_then(|(_, rest)| rest.split_once(" - ")) {
        Some((request, said)) => (named(request), without_document(said.trim())),
        None => (None, without_document(text)),
    }
}

/// `PUT http://host:9000/bucket/key?x=y in 1.2s, …` as `PUT at host:9000`.
fn named(request: &str) -> Option<String> {
    let mut words = request.split(' ');
    let (method, url) = (words.next()?, words.next()?);
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{method} at {host}:{port}"),
        None => format!("{method} at {host}"),
    })
}

/// Of an XML document only the code of the error in it.
fn without_document(text: &str) -> String {
    let Some((said, document)) = text.split_once('<') else { return text.to_owned() };
    let said = said.trim_end_matches([' ', ':']);
    match document.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")) {
        Some((code, _)) => format!("{said} ({code})"),
        None => said.to_owned(),
    }
}

fn deepest(error: &object_store::Error) -> String {
    let mut deepest: &dyn Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Said(String, #[source] Option<Box<Said>>);

    fn told(text: &str, cause: Option<&str>) -> String {
        let cause = cause.map(|cause| Box::new(Said(cause.to_owned(), None)));
        reason(&object_store::Error::Generic { store: "S3", source: Box::new(Said(text.to_owned(), cause)) })
    }

    #[test]
    fn a_reason_names_the_host_and_neither_key_nor_signature() {
        let refused = "Error performing PUT https://user:s3cret@bucket.example:9000/key?X-Amz-Signature=s3cret in 1.2s, \
                       after 3 retries, max_retries: 3, retry_timeout: 10s  - Server returned non-2xx status code: 403 \
                       Forbidden: <?xml?><Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>s3cret</AWSAccessKeyId>\
                       </Error>";
        assert_eq!(
            told(refused, None),
            "PUT at bucket.example:9000: Server returned non-2xx status code: 403 Forbidden (SignatureDoesNotMatch)"
        );
        let listed = "Error performing list request: Error performing GET http://h/?prefix=s3cret in 1s - HTTP error: \
                      error sending request";
        assert_eq!(told(listed, Some("timed out")), "GET at h: HTTP error: error sending request: timed out");
        assert_eq!(told("no such region", None), "Generic S3 error: no such region");
    }
}
