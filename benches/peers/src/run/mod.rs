//! The races, one theme a file. Each gives rows of the table.

pub mod agree;
pub mod cold;
pub mod durable;
pub mod keys;
pub mod sizes;
pub mod swap;
pub mod text;

/// The figure of a contender.
pub fn named<'f>(figures: &'f [crate::measure::Figure], name: &str) -> &'f crate::measure::Figure {
    figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("no contender {name}"))
}

/// The bound of a size, for the four sizes that the design names.
pub fn at_size(skills: usize, bounds: [f64; 4]) -> Option<f64> {
    [1_000, 10_000, 100_000, 1_000_000].iter().position(|size| *size == skills).map(|at| bounds[at])
}
