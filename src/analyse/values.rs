use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::game::{Rules, StartPosition};
use crate::solve::ValueBounds;

/// What is proved of the value of a game: of its start position, for the first player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameValue {
    /// Pits a side.
    pub pits: usize,
    /// Seeds in each.
    pub seeds: u32,
    /// The final store difference that the first player reaches.
    pub at_least: i64,
    /// The one that the second player holds the first to.
    pub at_most: i64,
    /// Nodes searched.
    pub nodes: u64,
    /// Seconds it took.
    pub seconds: f64,
}

impl GameValue {
    /// The board.
    pub fn start(&self) -> StartPosition {
        StartPosition { pits: self.pits, seeds: self.seeds }
    }

    /// What is proved.
    pub fn bounds(&self) -> ValueBounds {
        ValueBounds { lower: self.at_least, upper: self.at_most }
    }

    /// The value, when it is proved.
    pub fn value(&self) -> Option<i64> {
        self.bounds().value()
    }

    /// Whether the first player wins (`W`), loses (`L`) or draws (`D`); `None` when that is not proved.
    pub fn outcome(&self) -> Option<char> {
        match (self.at_least, self.at_most) {
            (1.., _) => Some('W'),
            (_, ..=-1) => Some('L'),
            (0, 0) => Some('D'),
            _ => None,
        }
    }
}

/// The values of games of one rule set, as far as they are known, and the file that keeps them.
pub struct GameValues {
    rules: Rules,
    path: Option<PathBuf>,
    values: Vec<GameValue>,
}

/// Why values cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum GameValuesError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is none of game values, or of other rules.
    #[error("{path} cannot be used: {what}; name another file")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

#[derive(Serialize, Deserialize)]
struct State {
    format: String,
    version: u32,
    rules: String,
    values: Vec<GameValue>,
}

const FORMAT: &str = "kalah game values";
const VERSION: u32 = 1;

impl GameValues {
    /// The values of `rules` kept in the file `path`, none if it is not there yet; without a path they are kept in memory.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn open(rules: Rules, path: Option<&Path>) -> Result<GameValues, GameValuesError> {
        let mut values = GameValues { rules, path: path.map(Path::to_owned), values: Vec::new() };
        let Some(path) = path else { return Ok(values) };
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(values),
            Err(source) => return Err(GameValuesError::Io { path: path.to_owned(), source }),
        };
        let unusable = |what: String| GameValuesError::Unusable { path: path.to_owned(), what };
        let state: State = serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
        if (state.format.as_str(), state.version) != (FORMAT, VERSION) {
            return Err(unusable(format!("it holds no '{FORMAT}' of version {VERSION}")));
        }
        if state.rules != rules.name() {
            return Err(unusable(format!("it holds values of {}, not of {rules}", state.rules)));
        }
        if let Some(value) = state.values.iter().find(|value| value.at_least > value.at_most) {
            return Err(unusable(format!("its value of {} is none", value.start())));
        }
        values.values = state.values;
        Ok(values)
    }

    /// What is known of a game.
    pub fn get(&self, start: StartPosition) -> Option<&GameValue> {
        self.values.iter().find(|value| value.start() == start)
    }

    /// Puts what is proved now in the place of what was known of the game, in the file too.
    ///
    /// # Errors
    /// When the file cannot be written; the old one stays then.
    pub fn put(&mut self, value: GameValue) -> Result<(), GameValuesError> {
        self.values.retain(|old| old.start() != value.start());
        self.values.push(value);
        self.values.sort_by_key(|value| (value.pits, value.seeds));
        let Some(path) = &self.path else { return Ok(()) };
        let io = |source| GameValuesError::Io { path: path.clone(), source };
        let state = State {
            format: FORMAT.to_owned(),
            version: VERSION,
            rules: self.rules.name().to_owned(),
            values: self.values.clone(),
        };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Renamed into place, so that a stop at any time leaves one of both.
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(io)?;
        serde_json::to_writer_pretty(&mut file, &state).map_err(|error| io(error.into()))?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }
}
