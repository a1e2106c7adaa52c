//! JSON numbers as RFC 8785 has them: IEEE 754 doubles in one written form.

use serde_json::{Map, Number, Value};

/// Largest integer up to which every integer is a double: 2^53 - 1.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// Deepest JSON value that is looked into; JSON texts cannot be deeper than 128.
pub(super) const DEPTH_MAX: usize = 128;

/// Why a JSON value cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Deeper than the given depth.
    TooDeep,
    /// An integer that no double holds exactly.
    InexactNumber,
}

/// Copies a value with every number in the form that reading its canonical JSON gives: whole numbers in the safe
/// range as integers, everything else as doubles.
pub(super) fn tidy(value: &Value) -> Result<Value, Fault> {
    tidy_below(value, DEPTH_MAX)
}

/// As [`tidy`], for an object.
pub(super) fn tidy_object(object: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    object.iter().map(|(key, value)| Ok((key.clone(), tidy_below(value, DEPTH_MAX - 1)?))).collect()
}

fn tidy_below(value: &Value, depth: usize) -> Result<Value, Fault> {
    let below = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
    Ok(match value {
        Value::Number(number) => tidy_number(number).map(Value::Number).ok_or(Fault::InexactNumber)?,
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| tidy_below(item, below)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| Ok((key.clone(), tidy_below(value, below)?)))
                .collect::<Result<_, _>>()?,
        ),
        other => other.clone(),
    })
}

/// The number in its normal form; `None` if a double cannot hold it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "guarded by the comparison with the safe range and checked by the way back"
)]
pub(super) fn tidy_number(number: &Number) -> Option<Number> {
    if let Some(whole) = number.as_u64() {
        if whole <= SAFE_INTEGER_MAX {
            return Some(number.clone());
        }
        let double = whole as f64;
        // 2^64 as a double would saturate back to u64::MAX, hence the comparison in a wider type.
        let held = double as u128 == u128::from(whole) || is_shortest_form(double, number);
        return held.then(|| Number::from_f64(double)).flatten();
    }
    if let Some(whole) = number.as_i64() {
        if whole.unsigned_abs() <= SAFE_INTEGER_MAX {
            return Some(number.clone());
        }
        let double = whole as f64;
        let held = double as i128 == i128::from(whole) || is_shortest_form(double, number);
        return held.then(|| Number::from_f64(double)).flatten();
    }
    let double = number.as_f64().filter(|double| double.is_finite())?;
    if double.fract() == 0.0 && double.abs() <= SAFE_INTEGER_MAX as f64 {
        return Some(Number::from(double as i64));
    }
    Some(number.clone())
}

/// Whether the digits are those that RFC 8785 writes for the double: the shortest that name it, filled up with zeros
/// (60789291167888110 for a double of 60789291167888112).
fn is_shortest_form(double: f64, written: &Number) -> bool {
    format!("{double}") == written.to_string()
}

/// Checks that a value is at most `depth` containers deep and that doubles hold all its numbers.
pub(super) fn check(value: &Value, depth: usize) -> Result<(), Fault> {
    match value {
        Value::Number(number) => tidy_number(number).map(|_| ()).ok_or(Fault::InexactNumber),
        Value::Array(items) => {
            let below = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
            items.iter().try_for_each(|item| check(item, below))
        }
        Value::Object(members) => check_members(members.values(), depth),
        _ => Ok(()),
    }
}

/// As [`check`], for the values of an object that is itself the first container.
pub(super) fn check_members<'v>(values: impl Iterator<Item = &'v Value>, depth: usize) -> Result<(), Fault> {
    let below = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
    let mut values = values;
    values.try_for_each(|value| check(value, below))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_take_the_form_that_canonical_json_reads_back() {
        let cases = [
            (json!(3), Some(json!(3))),
            (json!(3.0), Some(json!(3))),
            (json!(-0.0), Some(json!(0))),
            (json!(0.5), Some(json!(0.5))),
            (json!(9_007_199_254_740_991_u64), Some(json!(9_007_199_254_740_991_u64))),
            (json!(9_007_199_254_740_992_u64), Some(json!(9_007_199_254_740_992.0_f64))),
            (json!(9_007_199_254_740_993_u64), None),
            (json!(-9_007_199_254_740_993_i64), None),
            (json!(60_789_291_167_888_110_u64), Some(json!(60_789_291_167_888_112.0_f64))),
            (json!(-60_789_291_167_888_110_i64), Some(json!(-60_789_291_167_888_112.0_f64))),
            (json!(60_789_291_167_888_111_u64), None),
            (json!(u64::MAX), None),
            (json!(i64::MIN), Some(json!(-9_223_372_036_854_775_808.0_f64))),
            (json!(1e300), Some(json!(1e300))),
        ];
        for (value, expected) in cases {
            assert_eq!(tidy(&value).ok(), expected, "{value}");
            assert_eq!(check(&value, 1).is_ok(), expected.is_some(), "{value}");
        }
    }

    #[test]
    fn depth_counts_containers() {
        let nested = json!({"a": [[1]]});
        assert_eq!(check(&nested, 3), Ok(()));
        assert_eq!(check(&nested, 2), Err(Fault::TooDeep));
        let mut deep = json!(1);
        for _ in 0..200 {
            deep = json!([deep]);
        }
        assert_eq!(tidy(&deep), Err(Fault::TooDeep));
    }
}
