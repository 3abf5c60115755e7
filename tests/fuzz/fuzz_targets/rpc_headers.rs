//! Foreign bytes as the answer to a batch of `eth_getBlockByNumber`: no panic, and no more headers than answers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rooms::chain::parse_headers_answer;

fuzz_target!(|body: &[u8]| {
    if let Ok(headers) = parse_headers_answer(body) {
        assert!(headers.len() <= body.iter().filter(|byte| **byte == b'{').count());
    }
});
