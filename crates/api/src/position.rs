use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Rules};

use super::ApiError;
use super::answer::{Analysis, Ended, PositionAnswer, SearchAnswer};
use super::fields::Fields;
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
