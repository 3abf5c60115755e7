//! From a guest's core module to a component.

/// A core module that does not make a component.
#[derive(Debug, thiserror::Error)]
#[error(
    "the module cannot be made a component: {0}; it has to be built for wasm32-unknown-unknown against the nest's WIT world"
)]
pub struct ComponentizeError(String);

/// Wraps a core module, as wit-bindgen makes it for `wasm32-unknown-unknown`, into a component that validates. The same
/// module always gives the same bytes.
pub fn componentize(core_module: &[u8]) -> Result<Vec<u8>, ComponentizeError> {
    wit_component::ComponentEncoder::default()
        .validate(true)
        .module(core_module)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| ComponentizeError(format!("{error:#}")))
}
