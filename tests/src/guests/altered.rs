//! Bundles whose component is the standard decoder with one change (`tests/guests/altered`).

use std::path::PathBuf;

use nuthatch::plugin::nest_folder::{self, DecoderChoice, NestFiles};
use nuthatch::plugin::{PluginHost, PluginLimits};
use nuthatch_registry::{BundleBuilder, CodeKind};

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the control.
    Nothing,
    /// One is added to each uint256 named `value`.
    AddOne,
    /// `decode` traps.
    Trap,
    /// `decode` traps at a log whose uint256 named `value` is the largest there is.
    TrapOnMark,
}

impl Change {
    /// What the guest's plan begins with.
    fn mark(self) -> u8 {
        match self {
            Change::Nothing => b'=',
            Change::AddOne => b'+',
            Change::Trap => b'!',
            Change::TrapOnMark => b'?',
        }
    }
}

/// The nest as a bundle file with this change to its code.
pub fn altered_bundle<F: NestFiles + ?Sized>(nest: &F, change: Change) -> Vec<u8> {
    let host = PluginHost::new(PluginLimits::default()).expect("the engine starts");
    let built = nest_folder::build_files(&host, nest, DecoderChoice::Upgrade).expect("the nest builds");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("guests/dist/altered.wasm");
    let component =
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run tests/guests/build", path.display()));
    let mut manifest = built.bundle.manifest().clone();
    manifest.code = CodeKind::Own;
    let plan = [&[change.mark()], built.bundle.plan()].concat();
    let mut builder = BundleBuilder::new(component, manifest, plan);
    builder.files = built.bundle.files().map(|(path, bytes)| (path.clone(), bytes.to_vec())).collect();
    builder.build().expect("the parts make a bundle")
}
