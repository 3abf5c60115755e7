//! A panic in wasm is a bare trap. The hook says first what it was.

use std::panic::PanicHookInfo;
use std::sync::Once;

/// Makes every later panic write `file:line: message` through [`log::error`](crate::log::error). The exports call this
/// before anything else.
pub(crate) fn report() {
    static SET: Once = Once::new();
    SET.call_once(|| std::panic::set_hook(Box::new(|info| crate::log::error(&panic_text(info)))));
}

/// A panic as `file:line: message`.
pub fn panic_text(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("panicked with a value that is not text");
    match info.location() {
        Some(at) => format!("{}:{}: {message}", at.file(), at.line()),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Mutex;

    use super::panic_text;

    #[test]
    fn a_panic_is_told_with_file_line_and_message() {
        static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| SEEN.lock().unwrap().push(panic_text(info))));
        let line = line!() + 1;
        let caught = std::panic::catch_unwind(|| panic!("row {} is odd", 7));
        std::panic::set_hook(before);
        assert!(caught.is_err());
        let wanted = format!("{}:{line}: row 7 is odd", file!());
        assert!(SEEN.lock().unwrap().contains(&wanted), "{:?} lacks {wanted}", SEEN.lock().unwrap());
    }
}
