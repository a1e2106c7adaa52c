//! The one table: each row with the peer, the ratio to it, and the bar and the goal of the design.

use std::fmt;

use crate::measure::Figure;

/// What a row has to hold.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At most so many times the peer.
    Times(f64),
    /// At most so many nanoseconds (or bytes, as the row's unit says).
    Most(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Time,
    Bytes,
    /// A share, such as bytes on disk over bytes of text.
    Share,
}

pub struct Row {
    pub operation: String,
    pub skills: usize,
    pub unit: Unit,
    pub ours: f64,
    pub ours_p99: Option<f64>,
    pub peer: String,
    pub theirs: f64,
    pub ratio: f64,
    /// Spread of the rounds: ours, theirs.
    pub spread: (f64, f64),
    pub bar: Option<Bound>,
    pub goal: Option<Bound>,
}

impl Row {
    /// A row of a race.
    pub fn of(operation: impl Into<String>, skills: usize, ours: &Figure, peer: &Figure) -> Self {
        Self {
            operation: operation.into(),
            skills,
            unit: Unit::Time,
            ours: ours.p50,
            ours_p99: Some(ours.p99),
            peer: peer.name.to_owned(),
            theirs: peer.p50,
            ratio: ours.ratio_to(peer),
            spread: (ours.spread(), peer.spread()),
            bar: None,
            goal: None,
        }
    }

    /// A row without a peer.
    pub fn alone(operation: &str, skills: usize, figure: &Figure) -> Self {
        let mut row = Self::plain(operation, skills, Unit::Time, figure.p50, "", f64::NAN);
        (row.ours_p99, row.spread) = (Some(figure.p99), (figure.spread(), 0.0));
        row
    }

    /// A row of two numbers.
    pub fn plain(operation: &str, skills: usize, unit: Unit, ours: f64, peer: &str, theirs: f64) -> Self {
        Self {
            operation: operation.to_owned(),
            skills,
            unit,
            ours,
            ours_p99: None,
            peer: peer.to_owned(),
            theirs,
            ratio: ours / theirs,
            spread: (0.0, 0.0),
            bar: None,
            goal: None,
        }
    }

    pub fn bounds(mut self, bar: Option<Bound>, goal: Option<Bound>) -> Self {
        (self.bar, self.goal) = (bar, goal);
        self
    }

    pub fn times(self, bar: f64, goal: f64) -> Self {
        self.bounds(Some(Bound::Times(bar)), Some(Bound::Times(goal)))
    }

    pub fn most(self, bar: f64, goal: f64) -> Self {
        self.bounds(Some(Bound::Most(bar)), Some(Bound::Most(goal)))
    }

    fn holds(&self, bound: Bound) -> bool {
        match bound {
            Bound::Times(times) => self.ratio <= times,
            Bound::Most(most) => self.ours <= most,
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.bar, self.goal) {
            (_, Some(goal)) if self.holds(goal) => "goal",
            (Some(bar), _) if self.holds(bar) => "bar",
            (Some(_), _) => "**missed**",
            (None, Some(_)) => "above goal",
            (None, None) => "",
        }
    }

    fn bound(&self, bound: Option<Bound>) -> String {
        match bound {
            None => String::new(),
            Some(Bound::Times(times)) if times < 0.4 => format!("1/{}", (1.0 / times).round()),
            Some(Bound::Times(times)) => format!("{times} x"),
            Some(Bound::Most(most)) => Value(most, self.unit).to_string(),
        }
    }
}

/// The head of the table.
pub const HEAD: &str = "\
| operation | skills | ours | p99 | peer | peer's | ratio | bar | goal | holds | noise |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p99 = self.ours_p99.map(|p99| Value(p99, self.unit).to_string()).unwrap_or_default();
        let (ours, theirs) = (Value(self.ours, self.unit), Value(self.theirs, self.unit));
        let (bar, goal) = (self.bound(self.bar), self.bound(self.goal));
        let skills = Count(self.skills);
        if self.theirs.is_nan() {
            // A row with a bound of its own and no peer.
            write!(f, "| {} | {skills} | {ours} | {p99} | | | | ", self.operation)?;
            return write!(f, "{bar} | {goal} | {} | {:.0} % |", self.verdict(), 100.0 * self.spread.0);
        }
        let ratio = Ratio(self.ratio);
        write!(f, "| {} | {skills} | {ours} | {p99} | {} | {theirs} | ", self.operation, self.peer)?;
        write!(f, "{ratio} | {bar} | {goal} | {} | ", self.verdict())?;
        write!(f, "{:.0} / {:.0} % |", 100.0 * self.spread.0, 100.0 * self.spread.1)
    }
}

struct Value(f64, Unit);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.1 {
            Unit::Share => return write!(f, "{:.2} x", self.0),
            Unit::Time if self.0 < 999.5 => (self.0, "ns"),
            Unit::Time if self.0 < 999_500.0 => (self.0 / 1e3, "us"),
            Unit::Time if self.0 < 999_500_000.0 => (self.0 / 1e6, "ms"),
            Unit::Time => (self.0 / 1e9, "s"),
            Unit::Bytes if self.0 < 1_048_576.0 => (self.0 / 1024.0, "KiB"),
            Unit::Bytes => (self.0 / 1_048_576.0, "MiB"),
        };
        match value {
            ..10.0 => write!(f, "{value:.2} {unit}"),
            ..100.0 => write!(f, "{value:.1} {unit}"),
            _ => write!(f, "{value:.0} {unit}"),
        }
    }
}

struct Ratio(f64);

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0.1 { write!(f, "1/{:.0}", 1.0 / self.0) } else { write!(f, "{:.2} x", self.0) }
    }
}

/// A number of skills as people write it.
pub struct Count(pub usize);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000 && n % 1_000_000 == 0 => write!(f, "{}M", n / 1_000_000),
            n if n >= 1_000 && n % 1_000 == 0 => write!(f, "{}k", n / 1_000),
            n => write!(f, "{n}"),
        }
    }
}
