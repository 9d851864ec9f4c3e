//! A value, or its proved bounds.

use kalah::game::ValueBounds;
use serde::Serialize;

use crate::cli::output;

/// A value, or its proved bounds, as fields of a JSON document and as text.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Proved {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<i64>,
}

impl Proved {
    /// Returns the value, or both bounds if it is not proved.
    pub(crate) fn new(bounds: ValueBounds) -> Proved {
        match bounds.value() {
            None => Proved::bounds(bounds),
            value => Proved { value, ..Proved::default() },
        }
    }

    /// Returns both bounds, even if they are equal.
    pub(crate) fn bounds(bounds: ValueBounds) -> Proved {
        Proved { value: None, at_least: Some(bounds.lower), at_most: Some(bounds.upper) }
    }

    /// Returns the same without bounds that need no proof, those in `plain`.
    pub(crate) fn beyond(self, plain: ValueBounds) -> Proved {
        let at_least = self.at_least.filter(|&least| least > plain.lower);
        let at_most = self.at_most.filter(|&most| most < plain.upper);
        Proved { at_least, at_most, ..self }
    }

    /// Returns the value or its bounds: `+2`, `-4..+2`, `>= +2`, `<= +2`, or else `unknown`.
    pub(crate) fn symbols(&self, unknown: &str) -> String {
        self.text(["..", ">= ", "<= "], unknown)
    }

    /// Returns the value or its bounds: `+2`, `-4 to +2`, `at least +2`, `at most +2`, or else `unknown`.
    pub(crate) fn words(&self, unknown: &str) -> String {
        self.text([" to ", "at least ", "at most "], unknown)
    }

    fn text(&self, [between, from, to]: [&str; 3], unknown: &str) -> String {
        match (self.value.or(self.at_least), self.value.or(self.at_most)) {
            (Some(least), Some(most)) if least == most => output::value(least),
            (Some(least), Some(most)) => format!("{}{between}{}", output::value(least), output::value(most)),
            (Some(least), None) => format!("{from}{}", output::value(least)),
            (None, Some(most)) => format!("{to}{}", output::value(most)),
            (None, None) => unknown.to_owned(),
        }
    }
}
