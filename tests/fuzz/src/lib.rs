//! The rooms of the host that read foreign bytes, compiled without those above them. Imports point down the list of
//! rooms, so `chain` builds over `model` alone; the whole crate would bring DataFusion and wasmtime, half an hour of
//! building under a sanitizer.
#![allow(dead_code, unused_imports)]

#[path = "../../../host/src/chain/mod.rs"]
pub mod chain;
#[path = "../../../host/src/model/mod.rs"]
pub mod model;
pub mod store;
