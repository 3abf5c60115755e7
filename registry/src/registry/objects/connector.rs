//! The HTTP client beneath the store, with bounds: on the time to an answer, and on what is collected of one.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};

/// Most bytes of one page of a listing, or of any other answer that is taken whole.
const MAX_COLLECTED: usize = 4 << 20;
/// Most bytes of an error's answer.
const MAX_REFUSAL: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct BoundedConnector {
    /// For an answer to begin. A request that carries a body has the whole time of the client below.
    pub answer: Duration,
}

impl HttpConnector for BoundedConnector {
    fn connect(&self, options: &object_store::ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Bounded { client, answer: self.answer }))
    }
}

#[derive(Debug)]
struct Bounded {
    client: HttpClient,
    answer: Duration,
}

#[derive(Debug, thiserror::Error)]
enum OutOfBounds {
    #[error("no answer in {} s", .0.as_secs_f32())]
    Silence(Duration),
    #[error("the answer has more than {MAX_COLLECTED} bytes")]
    Endless,
}

#[async_trait::async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let uploads = request.method() == "PUT";
        // An object is streamed, and whoever reads it counts; a listing has a query.
        let streamed = request.method() == "GET" && request.uri().query().is_none();
        let execute = self.client.execute(request);
        let response = match uploads {
            true => execute.await?,
            false => tokio::time::timeout(self.answer, execute)
                .await
                .map_err(|_| HttpError::new(HttpErrorKind::Timeout, OutOfBounds::Silence(self.answer)))??,
        };
        let (mut parts, body) = response.into_parts();
        if !parts.status.is_success() {
            let collected = tokio::time::timeout(self.answer, Limited::new(body, MAX_REFUSAL).collect()).await;
            let text = collected.ok().and_then(Result::ok).map(|body| said(&body.to_bytes())).unwrap_or_default();
            return Ok(HttpResponse::from_parts(parts, text.into()));
        }
        if streamed {
            // The store would resume by it, and take a second beginning for the rest.
            parts.headers.remove("etag");
            return Ok(HttpResponse::from_parts(parts, body));
        }
        let limited = Limited::new(body, MAX_COLLECTED).map_err(|error| match error.downcast::<HttpError>() {
            Ok(error) => *error,
            Err(_) => HttpError::new(HttpErrorKind::Decode, OutOfBounds::Endless),
        });
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(limited)))
    }
}

/// Of an error's answer only code and message: the rest of S3's may repeat what was sent, the key's id included.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim().to_owned())
    };
    [element("Code"), element("Message")].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_repeats_of_the_request_is_not_told() {
        let body = b"<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>No match.</Message>\
            <AWSAccessKeyId>AKIACANARY</AWSAccessKeyId><StringToSign>AWS4 CANARY</StringToSign></Error>";
        assert_eq!(said(body), "SignatureDoesNotMatch: No match.");
        assert_eq!(said(b"<html>CANARY"), "");
        assert_eq!(said(b"\xff<Code>x</Code>"), "x");
    }
}
