//! A real S3-compatible server, with a proxy in front of it that counts and misbehaves on demand.
//!
//! ```ignore
//! let s3 = S3::start(&Clock::real()).await?;
//! s3.inject(S3Fault::Status(500).on(Op::Put).of("token__transfer").times(2));
//! // … `dev --segments s3://bucket/prefix` with the variables of s3.env() …
//! assert!(s3.calls().iter().any(|call| call.op == Op::Put));
//! ```

mod call;
mod fault;
mod forward;
mod moto;
mod proxy;
mod server;

pub use call::{Call, Op};
pub use fault::{Gate, Injection, Moment, S3Fault};
pub use server::S3;
