//! Foreign bytes as a registry's records and notices, and foreign text as a pin: no panic, errors of one line, and what
//! is accepted has that spelling alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_registry::{Notice, Pin, PullTarget, VersionRecord, scan_text};

fuzz_target!(|data: &[u8]| {
    // Where a record stands is what it says, so that the rest of it is looked at too.
    let json: serde_json::Value = serde_json::from_slice(data).unwrap_or_default();
    let text = |field: &str| json[field].as_str().unwrap_or_default();
    if let (Ok(name), Ok(version)) = (text("name").parse(), text("version").parse()) {
        match VersionRecord::parse(data, &name, &version) {
            Ok(record) => assert_eq!(record.to_json().as_bytes(), data),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
        let seq = json["seq"].as_u64().and_then(|seq| seq.try_into().ok()).unwrap_or_default();
        match Notice::parse(data, &name, seq) {
            Ok(notice) => assert_eq!(notice.to_json().as_bytes(), data),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(pin) = text.parse::<Pin>() {
        assert_eq!(pin.to_string().parse(), Ok(pin));
    }
    let _ = text.parse::<PullTarget>();
    for finding in scan_text("file", data) {
        assert!(!finding.to_string().contains('\n'));
    }
});
