//! Checks of everything between this program and a screen that can be tapped, each with what to do.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::driver::AdbDriver;
use super::frame::Listed;
use super::text::has_helper;
use super::{failure, picture, screen, text, tree};
use crate::device::{DeviceResult, DeviceState};
use crate::error::{DeviceCode, DeviceError};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It works, with a limit that somebody may run into.
    Limited,
    /// Something cannot work.
    Bad,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What was checked: a stable word.
    pub check: &'static str,
    /// The phone; empty for this computer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What was found: one sentence.
    pub found: String,
    /// What to do; empty if nothing is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// Collects findings.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        check: &'static str,
        device: &str,
        verdict: Verdict,
        found: impl Into<String>,
        hint: &str,
    ) {
        self.0.push(Finding {
            check,
            device: device.to_owned(),
            verdict,
            found: found.into(),
            hint: hint.to_owned(),
        });
    }

    /// A check that failed.
    fn bad(&mut self, check: &'static str, device: &str, error: &DeviceError) {
        self.add(check, device, Verdict::Bad, error.message.clone(), &error.hint);
    }
}

/// Checks the program, the server and every phone. `program` is what would start the server; `only` narrows it to one
/// phone. Types nothing and taps nothing.
pub async fn examine(driver: &AdbDriver, program: Option<&Path>, only: Option<&str>) -> Vec<Finding> {
    let mut findings = Findings::default();
    match program {
        Some(program) => findings.add("program", "", Verdict::Good, program.display().to_string(), ""),
        None => findings.add(
            "program",
            "",
            Verdict::Limited,
            "the program adb is not there: a server that does not run cannot be started",
            "install the Android platform tools (package `adb`)",
        ),
    }
    let client = driver.client();
    let running = client.server.dial().await.is_ok();
    match client.server.ask("host:version").await {
        Ok(version) => {
            let number = u32::from_str_radix(version.trim(), 16).unwrap_or(0);
            let started = if running { "answers" } else { "was started" };
            let found = format!("version {number} {started} at {}", client.server.address());
            findings.add("server", "", Verdict::Good, found, "");
        }
        Err(error) => {
            findings.bad("server", "", &error);
            return findings.0;
        }
    }
    let listed = match client.list().await {
        Ok(listed) => listed,
        Err(error) => {
            findings.bad("devices", "", &error);
            return findings.0;
        }
    };
    let chosen: Vec<&Listed> =
        listed.iter().filter(|one| only.is_none_or(|only| one.device.serial == only)).collect();
    count(&mut findings, &chosen, only);
    for one in chosen {
        if one.device.state == DeviceState::Device {
            phone(&mut findings, driver, &one.device.serial).await;
        } else {
            let found = format!("the phone is {}", state_word(one.device.state));
            findings.add("authorisation", &one.device.serial, Verdict::Bad, found, &one.device.hint);
        }
    }
    findings.0
}

/// Whether a phone can be chosen without being named.
fn count(findings: &mut Findings, chosen: &[&Listed], only: Option<&str>) {
    let ready = chosen.iter().filter(|one| one.device.state == DeviceState::Device).count();
    match (chosen.len(), only) {
        (0, Some(only)) => findings.bad("devices", "", &failure::refused("device '' not found", only)),
        (0, None) => findings.bad("devices", "", &failure::refused("no devices/emulators found", "")),
        _ if ready > 1 => findings.add(
            "devices",
            "",
            Verdict::Limited,
            format!("{ready} phones are ready, so that each call has to name one"),
            "set [device] serial, or name a device in each call",
        ),
        _ => findings.add("devices", "", Verdict::Good, format!("{ready} of {} ready", chosen.len()), ""),
    }
}

/// A state in words.
#[must_use]
pub(super) fn state_word(state: DeviceState) -> &'static str {
    match state {
        DeviceState::Device => "ready",
        DeviceState::Offline => "offline",
        DeviceState::Unauthorized => "not authorised",
        DeviceState::Connecting => "still connecting",
        DeviceState::NoPermissions => "closed to this computer",
        DeviceState::Other => "not in its normal system",
    }
}

async fn phone(findings: &mut Findings, driver: &AdbDriver, device: &str) {
    let client = driver.client();
    findings.add("authorisation", device, Verdict::Good, "the phone trusts this computer", "");
    match client.features(device).await {
        Ok(features) if features.contains("shell_v2") => {
            let abb = if features.contains("abb_exec") { ", services without a shell" } else { "" };
            findings.add(
                "features",
                device,
                Verdict::Good,
                format!("exit codes and separate errors{abb}"),
                "",
            );
        }
        Ok(_) => findings.add(
            "features",
            device,
            Verdict::Limited,
            "an old phone without shell_v2: errors and output come together",
            "",
        ),
        Err(error) => return findings.bad("features", device, &error),
    }
    match round_trip(driver, device).await {
        Ok(time) => {
            let found = format!("{}.{} ms", time.as_millis(), time.as_micros() % 1_000 / 100);
            let slow = time > Duration::from_millis(500);
            let hint = if slow { "use a cable, or a better network" } else { "" };
            findings.add(
                "round trip",
                device,
                if slow { Verdict::Limited } else { Verdict::Good },
                found,
                hint,
            );
        }
        Err(error) => return findings.bad("round trip", device, &error),
    }
    match screen::info(client, device).await {
        Ok(info) => {
            let found = format!(
                "{}, Android {} (API {}), {}x{}",
                info.model, info.android, info.sdk, info.width, info.height
            );
            findings.add("screen", device, Verdict::Good, found, "");
        }
        Err(error) => findings.bad("screen", device, &error),
    }
    reading(findings, driver, device).await;
    writing(findings, driver, device).await;
}

/// The two ways to see the screen.
async fn reading(findings: &mut Findings, driver: &AdbDriver, device: &str) {
    let client = driver.client();
    match tree::dump(client, device, true).await {
        Ok(bytes) => findings.add("ui tree", device, Verdict::Good, format!("{} bytes", bytes.len()), ""),
        // A screen that moves is no fault of the phone.
        Err(error) if error.code.passes() => {
            findings.add("ui tree", device, Verdict::Limited, error.message, &error.hint);
        }
        Err(error) => findings.bad("ui tree", device, &error),
    }
    match picture::take(client, device).await {
        Ok(bytes) => findings.add("screenshot", device, Verdict::Good, format!("{} bytes", bytes.len()), ""),
        Err(error) => findings.bad("screenshot", device, &error),
    }
}

/// Whether input is let through, and which characters can be typed.
async fn writing(findings: &mut Findings, driver: &AdbDriver, device: &str) {
    let client = driver.client();
    // Key 0 is the unknown key: no app reacts to it, and a phone that blocks input blocks it, too.
    let pressed = match client.run(device, &["input", "keyevent", "0"]).await {
        Ok(output) => text::checked("pressing no key", &output.said(), output.code),
        Err(error) => Err(error),
    };
    match pressed {
        Ok(()) => findings.add("input", device, Verdict::Good, "the phone takes input", ""),
        Err(error) => findings.bad("input", device, &error),
    }
    match has_helper(client, device).await {
        Ok(true) => findings.add(
            "keyboard",
            device,
            Verdict::Good,
            "ADB Keyboard is installed: any text can be typed",
            "",
        ),
        Ok(false) => findings.add(
            "keyboard",
            device,
            Verdict::Limited,
            "only ASCII can be typed",
            "install ADB Keyboard (package com.android.adbkeyboard) to type other scripts and emoji",
        ),
        Err(error) => findings.bad("keyboard", device, &error),
    }
}

async fn round_trip(driver: &AdbDriver, device: &str) -> DeviceResult<Duration> {
    let began = Instant::now();
    let output = driver.client().run(device, &["true"]).await?;
    if output.code != 0 {
        return Err(DeviceError::new(
            DeviceCode::CommandFailed,
            format!("the phone's shell answers with exit code {}", output.code),
            "restart the phone",
        ));
    }
    Ok(began.elapsed())
}
