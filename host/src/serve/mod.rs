//! HTTP: what `dev` answers with.
