#!/usr/bin/env bash
# run_rust.sh SOURCE LIBRARY FOLDER: compiles and runs a program in Rust that uses the C library.
# Exit code 77: there is no rustc.
set -euo pipefail
command -v rustc >/dev/null && rustc --version >/dev/null 2>&1 ||
  { echo "skipped: no rustc"; exit 77; }
folder=$(dirname "$2")
rustc --edition 2021 -D warnings -L "native=$folder" -C "link-arg=-Wl,-rpath,$folder" -o "$3/ffi_rust" "$1"
"$3/ffi_rust"
