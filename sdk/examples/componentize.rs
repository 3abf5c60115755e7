//! Makes a component of a core module that was built with the SDK: `componentize CORE.wasm COMPONENT.wasm`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [core, component] = paths.as_slice() else {
        eprintln!("usage: componentize CORE.wasm COMPONENT.wasm");
        return ExitCode::from(2);
    };
    let made = std::fs::read(core).map_err(|error| format!("cannot read {}: {error}", core.display()));
    let made = made.and_then(|module| {
        let encoder = wit_component::ComponentEncoder::default().validate(true).module(&module);
        let encoded = encoder.and_then(|mut encoder| encoder.encode());
        encoded.map_err(|error| format!("cannot make a component of {}: {error:#}", core.display()))
    });
    let written = made.and_then(|bytes| {
        std::fs::write(component, bytes).map_err(|error| format!("cannot write {}: {error}", component.display()))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
