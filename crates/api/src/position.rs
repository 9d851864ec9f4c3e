//! Requests about a position, and about many.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Row, Rules};
use serde::Serialize;

use super::ApiError;
use super::answer::{Analysis, Ended, PositionAnswer, SearchAnswer};
use super::error::ErrorAnswer;
use super::fields::{Fields, parse_position};
use super::searcher::{Search, Searcher};

/// Request about a position: `GET /api/position`, `/api/search` or `/api/book`.
#[derive(Clone, Copy, Debug)]
pub struct PositionRequest {
    /// The rule set.
    pub rules: Rules,
    /// The position.
    pub position: Position,
    /// The requested time of a search.
    pub time: Option<Duration>,
}

impl PositionRequest {
    /// Reads the query of `/api/position` or `/api/search`.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or the position is too large.
    pub fn read(query: &str) -> Result<PositionRequest, ApiError> {
        let mut fields = Fields::of_query(query, &["board", "rules", "time"])?;
        Ok(PositionRequest { position: fields.position()?, rules: fields.rules()?, time: fields.time()? })
    }

    /// Reads the query of `/api/book`, which has no time.
    ///
    /// # Errors
    /// As [`PositionRequest::read`].
    pub fn read_untimed(query: &str) -> Result<PositionRequest, ApiError> {
        let mut fields = Fields::of_query(query, &["board", "rules"])?;
        Ok(PositionRequest { position: fields.position()?, rules: fields.rules()?, time: None })
    }

    /// Searches the position.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search(&self, searcher: &mut Searcher<'_>, cancel: &Cancel) -> Result<PositionAnswer, ApiError> {
        let analysis = searcher.analyse(self.rules, &self.position, cancel)?;
        Ok(PositionAnswer::searched(self.rules, &self.position, &analysis))
    }

    /// Prepares a search in slices.
    ///
    /// # Errors
    /// As [`PositionRequest::search`].
    pub fn begin<'t>(&self, searcher: &mut Searcher<'t>, cancel: &Cancel) -> Result<SlicedSearch<'t>, ApiError> {
        let search = searcher.begin(self.rules, &self.position, cancel)?;
        Ok(SlicedSearch { request: *self, search, cancel: cancel.clone(), start: Instant::now() })
    }

    /// Returns the answer of a search that was not necessary.
    pub fn known_at_once(known: PositionAnswer, seconds: f64) -> SearchAnswer {
        SearchAnswer { known, nodes: 0, seconds, ended: Some(Ended::Proved) }
    }
}

/// A prepared search of a position.
#[derive(Debug)]
pub struct SlicedSearch<'t> {
    request: PositionRequest,
    search: Search<'t>,
    cancel: Cancel,
    start: Instant,
}

impl SlicedSearch<'_> {
    /// Searches, and reports results as they improve. Returns the last one, with the reason of the end.
    ///
    /// # Errors
    /// If a table is damaged.
    pub async fn run(self, mut report: impl FnMut(SearchAnswer)) -> Result<SearchAnswer, ApiError> {
        let SlicedSearch { request: PositionRequest { rules, position, .. }, search, cancel, start } = self;
        let answer = |analysis: &Analysis, ended| SearchAnswer {
            known: PositionAnswer::searched(rules, &position, analysis),
            nodes: analysis.nodes,
            seconds: start.elapsed().as_secs_f64(),
            ended,
        };
        let analysis = search.run(&mut |analysis| report(answer(analysis, None))).await?;
        let ended = if analysis.is_proved() {
            Ended::Proved
        } else if cancel.is_cancelled() {
            Ended::Time
        } else {
            Ended::Depth
        };
        Ok(answer(&analysis, Some(ended)))
    }
}

/// Maximum positions of a request.
const MAX_POSITIONS: usize = 1000;

/// Request about many positions: `POST /api/positions`. No position is searched.
#[derive(Debug)]
pub struct PositionsRequest {
    rules: Rules,
    positions: Vec<Result<Position, ApiError>>,
}

/// Answer about one of many positions: that of `GET /api/position`, or the reason for its absence.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum OneAnswer {
    Known(Box<PositionAnswer>),
    Error(ErrorAnswer),
}

/// Answer about many positions, in the order of the request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PositionsAnswer {
    rules: &'static str,
    positions: Vec<OneAnswer>,
}

impl PositionsRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, or there are too many positions. A board that is not a position is an
    /// error of its own answer only.
    pub fn read(body: &[u8]) -> Result<PositionsRequest, ApiError> {
        let mut fields = Fields::of_body(body, &["boards", "rules"])?;
        let (boards, rules) = (fields.boards(MAX_POSITIONS)?, fields.rules()?);
        Ok(PositionsRequest { rules, positions: boards.iter().map(|board| parse_position(board)).collect() })
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side of the positions.
    pub fn pits(&self) -> BTreeSet<usize> {
        self.positions.iter().flatten().map(Position::pits).collect()
    }

    /// Answers about all positions that `known` answers. It gets them in the order of the tables, so that nearby scores
    /// are read one after the other. Its errors are those of single answers, which `report` gets, too.
    pub fn answer(
        self,
        mut known: impl FnMut(Rules, &Position) -> Result<Option<PositionAnswer>, ApiError>,
        mut report: impl FnMut(&ApiError),
    ) -> PositionsAnswer {
        let mut order: Vec<(usize, &Position)> =
            self.positions.iter().enumerate().filter_map(|(index, one)| Some((index, one.as_ref().ok()?))).collect();
        order.sort_by_cached_key(|(_, position)| place(position));
        let mut answers = BTreeMap::new();
        for (index, position) in order {
            let answer = known(self.rules, position).and_then(|known| known.ok_or(ApiError::NotKnown));
            answers.insert(index, answer.inspect_err(&mut report));
        }
        let one = |(index, position): (usize, Result<Position, ApiError>)| {
            let answer = position.and_then(|_| answers.remove(&index).expect("all positions were asked about"));
            answer.map_or_else(|error| OneAnswer::Error(error.document()), |known| OneAnswer::Known(Box::new(known)))
        };
        let positions = self.positions.into_iter().enumerate().map(one).collect();
        PositionsAnswer { rules: self.rules.name(), positions }
    }
}

/// Sorts positions as the tables do: by layer, by frame, by the rank of the other row, by that of the mover's.
fn place(position: &Position) -> impl Ord + use<> {
    // Ranks ascend with the potential of a row, then with its pits (`RowIndex`).
    let rank = |row: &Row| {
        let potential: u64 = row.seeds().iter().rev().zip(0..).map(|(&seeds, weight)| u64::from(seeds) * weight).sum();
        (potential, row.seeds().to_vec())
    };
    let (mover, other) = (position.mover(), position.other());
    (position.pits(), position.seeds(), mover.total(), rank(other), rank(mover))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kalah_core::index::{RowIndex, table_row};

    /// All positions of a small board, in an order that mixes them.
    fn positions() -> Vec<Position> {
        let pits = |number: u32| [number % 4, number / 4 % 4, number / 16 % 4];
        let all = (0..4096u32).map(|number| number * 1597 % 4096);
        let position = |number: u32| {
            let row = |number| Row::new(&pits(number)).expect("three pits");
            Position::new(row(number % 64), row(number / 64), 0, 0).expect("few seeds")
        };
        all.map(position).filter(|position| !position.is_over()).collect()
    }

    #[test]
    fn positions_are_looked_up_in_the_order_of_the_tables() {
        let rows = RowIndex::new(3, 18).unwrap();
        let mut positions = positions();
        positions.sort_by_cached_key(place);
        let rank = |row: &Row| rows.rank(&table_row(row).expect("few seeds"));
        let place = |position: &Position| {
            let (mover, other) = (position.mover(), position.other());
            (position.seeds(), mover.total(), rank(other), rank(mover))
        };
        assert!(positions.windows(2).all(|two| place(&two[0]) < place(&two[1])));
    }

    #[test]
    fn a_body_has_a_limited_number_of_texts() {
        let read = |body: &str| PositionsRequest::read(body.as_bytes());
        let many = |count: usize| format!(r#"{{"boards": [{}]}}"#, vec![r#""1x1""#; count].join(","));
        assert_eq!(read(&many(MAX_POSITIONS)).unwrap().pits(), BTreeSet::from([1]));
        for (body, why) in [
            (many(MAX_POSITIONS + 1), "at most 1000"),
            (r#"{"boards": "6x4"}"#.to_owned(), "array"),
            (r#"{"boards": ["6x4", 3]}"#.to_owned(), r#"is ["6x4",3]"#),
            (r#"{"boards": ["6x4"], "time": 1}"#.to_owned(), "'time' is not a field"),
            ("{}".to_owned(), "'boards' is missing"),
        ] {
            let error = read(&body).unwrap_err();
            assert!(error.kind() == (400, "request") && error.to_string().contains(why), "{error}");
        }
    }
}
