//! Names with `*`.

/// A name in which `*` stands for any characters; case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<String>,
}

impl Glob {
    /// A pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self { parts: pattern.to_lowercase().split('*').map(str::to_owned).collect() }
    }

    /// Whether a name fits. Linear in both.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else { return false };
        if self.parts.len() == 1 {
            return name == *first;
        }
        let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
        for part in self.parts.iter().take(self.parts.len() - 1).skip(1) {
            match rest.find(part.as_str()) {
                Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        let rows = [
            ("com.paypal.*", "com.paypal.android", true),
            ("com.paypal.*", "com.paypal", false),
            ("*bank*", "com.MyBank.app", true),
            ("*bank*", "com.example", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("com.app", "com.app", true),
            ("com.app", "com.app2", false),
        ];
        for (pattern, name, expect) in rows {
            assert_eq!(Glob::new(pattern).fits(name), expect, "{pattern} {name}");
        }
    }
}
