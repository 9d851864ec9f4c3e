use kalah_core::game::{Line, Pit, Played, ValueBounds};

/// Proved bounds of the value of a position or move for the mover, and its evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assessment {
    /// Proved bounds, if there are any.
    pub bounds: Option<ValueBounds>,
    /// The evaluation of a depth-limited search.
    pub evaluation: Option<i64>,
}

impl Assessment {
    /// Returns proved bounds, unless they are trivial, and an evaluation clamped to them.
    pub(crate) fn new(bounds: ValueBounds, plain: ValueBounds, evaluation: i64) -> Assessment {
        let evaluation = Some(evaluation.clamp(bounds.lower, bounds.upper));
        Assessment { bounds: (bounds != plain || bounds.value().is_some()).then_some(bounds), evaluation }
    }

    /// Returns a proved value.
    pub(crate) fn exact(value: i64) -> Assessment {
        Assessment { bounds: Some(ValueBounds { lower: value, upper: value }), evaluation: None }
    }

    /// Returns the value, if it is proved.
    pub(crate) fn value(self) -> Option<i64> {
        self.bounds.and_then(ValueBounds::value)
    }

    /// Returns the likely value: the proved one, otherwise the evaluation, otherwise the lower bound.
    pub(crate) fn apparent(self) -> Option<i64> {
        self.value().or(self.evaluation).or(self.bounds.map(|bounds| bounds.lower))
    }
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// Result for the position.
    pub assessment: Assessment,
    /// Depth of the evaluations, counted by turns; by moves on boards too large for a solver, and if turns may be
    /// endless.
    pub ahead: u32,
    /// Results for the legal moves.
    pub moves: Vec<(Pit, Played, Assessment)>,
    /// Line of best play, if the value was proved and time was left.
    pub line: Option<Line>,
    /// Nodes searched by the solver.
    pub nodes: u64,
}

impl Analysis {
    /// Returns true if the value of the position and those of all moves are proved.
    pub(crate) fn is_proved(&self) -> bool {
        self.assessment.value().is_some() && self.moves.iter().all(|(_, _, assessment)| assessment.value().is_some())
    }
}
