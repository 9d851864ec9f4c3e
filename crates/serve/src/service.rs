use std::time::Duration;

use kalah_api::{ApiError, Sources};

use super::options::Options;
use super::searches::Searches;

/// State shared by all requests, which lives until the process ends.
pub(super) struct Service {
    pub options: &'static Options,
    pub searches: Searches,
}

impl Service {
    /// Reads tables and books on other threads than those that answer requests, since the disk may be slow.
    pub(crate) async fn read<T: Send + 'static>(
        &'static self,
        read: impl FnOnce(Sources<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let reading = tokio::task::spawn_blocking(move || read(self.options.sources()));
        reading.await.map_err(|_| ApiError::failed("reading the tables failed unexpectedly"))?
    }

    /// Returns the time of a search: as requested, up to the limit.
    pub(crate) fn time(&self, asked: Option<Duration>) -> Duration {
        asked.unwrap_or(self.options.time).min(self.options.time)
    }
}
