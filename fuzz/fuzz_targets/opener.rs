//! A layer of made-up bytes with right checksums: opening it and asking it everything never panics, never hangs, and reads
//! nothing outside of the bytes.
//!
//! The input is a list of edits of four bytes to a good layer; the checksums are mended behind them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repertoire::catalog::hostile;

fuzz_target!(|data: &[u8]| hostile::open(data));
