//! The product's own `main`, built beside the tests so that they always run the code they were compiled with.

use std::process::ExitCode;

fn main() -> ExitCode {
    nuthatch::cli::main()
}
