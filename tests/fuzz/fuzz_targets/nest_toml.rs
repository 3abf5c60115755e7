//! Foreign text as a nest.toml: no panic, errors of one line, and what is accepted makes a manifest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_registry::{BundleBuilder, NestToml};

fuzz_target!(|text: &str| {
    match NestToml::parse(text, "nest.toml") {
        Ok(nest) => {
            let mut builder = BundleBuilder::new(b"\0asm\x0d\0\x01\0".to_vec(), nest.manifest(vec![], vec![]), vec![]);
            for path in nest.file_paths() {
                builder = builder.file(path, b"[]".to_vec());
            }
            builder.build().unwrap();
            nest.plan_config(&builder.files).unwrap();
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
