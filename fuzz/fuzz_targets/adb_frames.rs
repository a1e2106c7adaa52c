//! Arbitrary bytes in place of what an adb server or a phone writes: device lists, packets of a shell in every cut, dumps.
//! Never a panic, never more memory than the limits allow, and no answer that depends on how the bytes were cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repertoire::device::adb::hostile;

fuzz_target!(|data: &[u8]| hostile::read(data));
