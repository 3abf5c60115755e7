//! Registry and cache as their users see them: folders, an S3-compatible server, hostile answers, many processes.
#![allow(clippy::unwrap_used)]

mod cache_attacks;
mod cache_disks;
mod hostile_answers;
mod notices;
mod processes;
mod publish;
mod races;
mod real_texts;
mod resolve;
mod support;
mod verify;
