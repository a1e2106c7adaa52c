//! The driver of the adb server against a test device: the real adb server speaks the transport protocol with a program that
//! stands for a phone, commands run in the real Android shell (mksh) and toolbox (toybox), and what an Android system adds to
//! these acts on a model of a screen.
//!
//! Needs `adb`, `mksh` and `toybox`; without them each test says SKIPPED. `REPERTOIRE_TEST_SCALE` (`default`, `ci`, `long`) sets
//! the amounts.
#![cfg(feature = "cli")]
#![cfg(target_os = "linux")]

mod apps;
mod devices;
mod doctor;
mod flow;
mod lost;
mod phone;
mod screen;
mod server;
mod soak;
mod speed;
mod text;
mod tree;
mod world;
