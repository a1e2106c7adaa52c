//! Rules between the arguments of one call: what a flat JSON Schema cannot say.

use serde::{Deserialize, Serialize};

use crate::error::Problem;

/// One rule between arguments. An argument name stands for "this argument is given".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Constraint {
    /// Exactly one of the arguments is given.
    ExactlyOne {
        /// Argument names.
        of: Vec<String>,
    },
    /// One of the arguments at least is given.
    AtLeastOne {
        /// Argument names.
        of: Vec<String>,
    },
    /// No two of the arguments are given.
    AtMostOne {
        /// Argument names.
        of: Vec<String>,
    },
    /// All of the arguments are given, or none.
    Together {
        /// Argument names.
        of: Vec<String>,
    },
    /// An argument only makes sense beside one of others.
    Needs {
        /// The dependent argument.
        argument: String,
        /// One of these at least must be given with it.
        of: Vec<String>,
    },
    /// A number is not above another; an argument that is not given counts with its default.
    NotAbove {
        /// The argument that must not be above.
        lower: String,
        /// The argument that bounds it.
        upper: String,
    },
}

/// Whether an argument will be in the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It will not.
    Absent,
    /// It depends on the values of a flow's parameters.
    Maybe,
    /// It will.
    Present,
}

impl Constraint {
    /// Every argument that the rule speaks of.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let (listed, single): (&[String], [Option<&String>; 2]) = match self {
            Self::ExactlyOne { of }
            | Self::AtLeastOne { of }
            | Self::AtMostOne { of }
            | Self::Together { of } => (of, [None, None]),
            Self::Needs { argument, of } => (of, [Some(argument), None]),
            Self::NotAbove { lower, upper } => (&[], [Some(lower), Some(upper)]),
        };
        listed.iter().chain(single.into_iter().flatten()).map(String::as_str)
    }

    /// What is wrong with a call, if the rule is broken for certain. `number` answers the value of an argument (or its
    /// default) where it is known.
    pub(crate) fn broken(
        &self,
        presence: impl Fn(&str) -> Presence,
        number: impl Fn(&str) -> Option<f64>,
        pointer: &str,
    ) -> Option<Problem> {
        let given: Vec<&str> = self.arguments().filter(|name| presence(name) == Presence::Present).collect();
        let possible = self.arguments().any(|name| presence(name) != Presence::Absent);
        let code = "argument_rule";
        match self {
            Self::ExactlyOne { of } if !possible => Some(
                Problem::new(code, pointer, format!("give exactly one of {}", of.join(", "))).got("none"),
            ),
            Self::AtLeastOne { of } if !possible => Some(
                Problem::new(code, pointer, format!("give at least one of {}", of.join(", "))).got("none"),
            ),
            Self::ExactlyOne { of } | Self::AtMostOne { of } if given.len() > 1 => Some(
                Problem::new(code, pointer, format!("give only one of {}", of.join(", ")))
                    .got(given.join(", ")),
            ),
            Self::Together { of } => {
                let missing = of.iter().any(|name| presence(name) == Presence::Absent);
                (missing && !given.is_empty()).then(|| {
                    Problem::new(code, pointer, format!("give all of {}, or none", of.join(", ")))
                        .got(given.join(", "))
                })
            }
            Self::Needs { argument, of } => {
                let alone = of.iter().all(|name| presence(name) == Presence::Absent);
                (alone && presence(argument) == Presence::Present).then(|| {
                    Problem::new(code, pointer, format!("{argument} only goes with {}", of.join(" or ")))
                        .got(argument)
                })
            }
            Self::NotAbove { lower, upper } => {
                let (low, high) = (number(lower)?, number(upper)?);
                (low > high).then(|| {
                    Problem::new(code, pointer, format!("{lower} must not be above {upper}"))
                        .got(format!("{low} and {high}"))
                })
            }
            Self::ExactlyOne { .. } | Self::AtLeastOne { .. } | Self::AtMostOne { .. } => None,
        }
    }
}
