//! One file a command: parses, calls, prints.
