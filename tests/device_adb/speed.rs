//! A call through the socket against one through the `adb` program.

use std::time::{Duration, Instant};

use repertoire::device::Driver as _;

use crate::phone::Model;
use crate::world::{World, amount};

/// The time of the fastest of some calls: what is above it is other work of this computer.
fn fastest(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

#[tokio::test]
async fn a_call_through_the_socket_starts_no_program() {
    let Some(world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let words = ["-s", &serial, "shell", "dumpsys", "input_method"];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut own_lists, mut lists) = (Vec::new(), Vec::new());
    for _ in 0..amount(20, 50, 200) {
        let began = Instant::now();
        driver.keyboard_shown(&serial).await.unwrap();
        ours.push(began.elapsed());
        let began = Instant::now();
        assert!(world.server.command().args(words).status().unwrap().success());
        theirs.push(began.elapsed());
        // Without any work of the phone: what the way there costs by itself.
        let began = Instant::now();
        driver.pull(&serial, "/dev/null").await.unwrap_err();
        own_lists.push(began.elapsed());
        let began = Instant::now();
        assert!(world.server.command().args(["-s", &serial, "shell", ":"]).status().unwrap().success());
        lists.push(began.elapsed());
    }
    let (own_list, list) = (fastest(&own_lists), fastest(&lists));
    eprintln!(
        "no-op: socket {own_list:?}, adb shell {list:?}, ratio {:.1}",
        list.as_secs_f64() / own_list.as_secs_f64()
    );
    // As many calls of the phone as of the program: neither way adds one.
    assert_eq!(world.phone.model().calls("dumpsys").len(), ours.len() + theirs.len());
    let (ours, theirs) = (fastest(&ours), fastest(&theirs));
    eprintln!(
        "socket {ours:?}, adb shell {theirs:?}, ratio {:.1}",
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}
