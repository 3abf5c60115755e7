//! The one binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    nuthatch::cli::main()
}
