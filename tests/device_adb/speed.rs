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
    driver.push(&serial, b"x".to_vec(), &format!("{}/x", world.phone.temporary()), 0o600).await.unwrap();
    let path = format!("{}/x", world.phone.temporary());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..amount(20, 50, 200) {
        let began = Instant::now();
        assert_eq!(driver.pull(&serial, &path).await.unwrap(), b"x");
        ours.push(began.elapsed());
        let began = Instant::now();
        let status = world.server.command().args(["-s", &serial, "shell", "true"]).status().unwrap();
        assert!(status.success());
        theirs.push(began.elapsed());
    }
    let (ours, theirs) = (fastest(&ours), fastest(&theirs));
    eprintln!(
        "socket {ours:?}, adb shell {theirs:?}, ratio {:.1}",
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
    let _ = driver.devices().await.unwrap();
}
