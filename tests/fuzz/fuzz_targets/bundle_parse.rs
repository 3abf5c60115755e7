//! Foreign bytes as a bundle, and as the sections that follow a valid header: no panic, and what is accepted is
//! canonical and can be built again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_registry::{Bundle, BundleBuilder, BundleHash, Interface, Manifest};

fn check(bytes: &[u8]) {
    let _ = Interface::of(bytes);
    let Ok(bundle) = Bundle::parse(bytes) else { return };
    assert_eq!(bundle.hash(), BundleHash::of(bytes));
    assert_eq!(bundle.manifest().to_canonical_json().unwrap(), bundle.manifest_json());
    assert_eq!(bundle.manifest().files.len(), bundle.files().count());
    let _ = (bundle.interface(), bundle.sql_views());
    let builder = BundleBuilder {
        component: bundle.component().unwrap(),
        manifest: bundle.manifest().clone(),
        plan: bundle.plan().to_vec(),
        views: bundle.views_component().map(<[u8]>::to_vec),
        files: bundle.files().map(|(path, bytes)| (path.clone(), bytes.to_vec())).collect(),
    };
    // Code that does not validate reads as a bundle and is refused here.
    if let Ok(again) = builder.build() {
        assert_eq!(Bundle::parse(&again).unwrap().data_identity(), bundle.data_identity());
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    check(&[b"\0asm\x0d\0\x01\0", data].concat());
    if let Ok(manifest) = Manifest::from_canonical_json(data) {
        assert_eq!(manifest.to_canonical_json().unwrap().as_bytes(), data);
    }
});
