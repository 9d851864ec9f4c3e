use kalah_base::printable::signed;
use kalah_core::game::{Position, ValueBounds};
use kalah_play::play::Worth;
use serde::Serialize;

/// Certainty of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Known {
    Exact,
    Bounds,
    Estimate,
}

/// Knowledge of a value, which is a final store difference: the value, proved bounds of it, an evaluation, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Value {
    /// Certainty of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    /// The final store difference for the mover, if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    /// Proved lower bound of a value that is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<i64>,
    /// Proved upper bound of a value that is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<i64>,
    /// Evaluation of a value that is not exact, which proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<i64>,
    /// Bounds that need no proof, which the text leaves out.
    #[serde(skip)]
    plain: Option<ValueBounds>,
}

impl From<Worth> for Value {
    fn from(worth: Worth) -> Value {
        match worth {
            Worth::Exact(value) => Value::exact(value),
            Worth::Bounds { lower, upper } => Value::new(ValueBounds { lower, upper }),
            Worth::Evaluation(estimate) => Value::estimate(estimate),
            Worth::Unknown => Value::default(),
        }
    }
}

impl Value {
    /// Returns what these proved bounds say.
    pub fn new(bounds: ValueBounds) -> Value {
        let ValueBounds { lower, upper } = bounds;
        if lower == upper {
            return Value { known: Some(Known::Exact), value: Some(lower), ..Value::default() };
        }
        Value { known: Some(Known::Bounds), lower: Some(lower), upper: Some(upper), ..Value::default() }
    }

    /// Returns a proved value.
    pub fn exact(value: i64) -> Value {
        Value::new(ValueBounds { lower: value, upper: value })
    }

    /// Returns an evaluation.
    pub(crate) fn estimate(estimate: i64) -> Value {
        Value { known: Some(Known::Estimate), estimate: Some(estimate), ..Value::default() }
    }

    /// Returns what these proved bounds say with an evaluation, without those that need no proof.
    pub(crate) fn estimated(bounds: ValueBounds, estimate: i64, plain: ValueBounds) -> Value {
        let within = estimate.clamp(bounds.lower, bounds.upper);
        match Value::new(bounds).beyond(plain) {
            exact if exact.value.is_some() => exact,
            value if value.lower.is_some() => Value { estimate: Some(within), ..value },
            value => Value { plain: value.plain, ..Value::estimate(within) },
        }
    }

    /// Returns the same without what needs no proof, these bounds.
    #[must_use]
    pub fn beyond(self, plain: ValueBounds) -> Value {
        let says = |bounds: ValueBounds| bounds.lower > plain.lower || bounds.upper < plain.upper;
        let kept = if self.value.is_some() || self.bounds().is_some_and(says) { self } else { Value::default() };
        Value { plain: Some(plain), ..kept }
    }

    /// Returns the same without bounds that follow from the stores and seeds of `position`.
    #[must_use]
    pub fn beyond_stores(self, position: &Position) -> Value {
        let [lower, upper] = [0, position.seeds()].map(|score| position.value(score));
        self.beyond(ValueBounds { lower, upper })
    }

    /// The value, if it is proved.
    pub fn value(&self) -> Option<i64> {
        self.value
    }

    /// Proved bounds, if there are any.
    pub fn bounds(&self) -> Option<ValueBounds> {
        let [lower, upper] = [self.lower, self.upper].map(|bound| self.value.or(bound));
        Some(ValueBounds { lower: lower?, upper: upper? })
    }

    /// The likely value: the proved one, otherwise the evaluation, otherwise the lower bound.
    pub(crate) fn apparent(&self) -> Option<i64> {
        self.value.or(self.estimate).or(self.lower)
    }

    /// Returns true if there is an evaluation of a value that is not proved.
    pub(crate) fn is_estimated(&self) -> bool {
        self.estimate.is_some()
    }

    /// Returns the proved value or bounds: `+2`, `-4..+2`, `>= +2`, `<= +2`, or else `unknown`.
    pub fn symbols(&self, unknown: &str) -> String {
        self.text(["..", ">= ", "<= "], unknown)
    }

    /// Returns the proved value or bounds: `+2`, `-4 to +2`, `at least +2`, `at most +2`, or else `unknown`.
    pub fn words(&self, unknown: &str) -> String {
        self.text([" to ", "at least ", "at most "], unknown)
    }

    fn text(&self, [between, from, to]: [&str; 3], unknown: &str) -> String {
        let Some(ValueBounds { lower, upper }) = self.bounds() else { return unknown.to_owned() };
        match self.plain {
            _ if lower == upper => signed(lower),
            Some(plain) if upper >= plain.upper => format!("{from}{}", signed(lower)),
            Some(plain) if lower <= plain.lower => format!("{to}{}", signed(upper)),
            _ => format!("{}{between}{}", signed(lower), signed(upper)),
        }
    }
}
