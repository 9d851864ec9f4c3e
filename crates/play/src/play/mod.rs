//! Players of the game, from random to perfect, and games between them.
//!
//! A [`PlayerName`] such as `perfect` or `minimax:6` makes a [`Player`] with a [`Setting`]. A player answers a
//! position with a [`Choice`], at the latest when a [`Cancel`](kalah_core::cancel::Cancel) ends its time:
//!
//! ```
//! use kalah_core::cancel::Cancel;
//! use kalah_core::game::{Position, Rules};
//! use kalah_play::play::{PlayerName, Setting};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let name: PlayerName = "alphabeta:6".parse()?;
//! let mut player = name.player(&Setting::new(Rules::Standard));
//! let start: Position = "6x4".parse()?;
//! let choice = player.choose(&start, &Cancel::new(), &mut |_| ())?;
//! assert!(start.play(Rules::Standard, choice.pit).is_ok());
//! # Ok(())
//! # }
//! ```

// | module | contents |
// |---|---|
// | `player` | the interface of players; their settings; a move with its worth and source; errors |
// | `name` | the names of all players, read and written |
// | `perfect` | the perfect player: tables, book, solver, else the best evaluation |
// | `depth_limited` | minimax and alpha-beta to a limited depth (Gonai and Cendejas 2022) |
// | `pekar` | a heuristic and two minimax players (Pekař et al. 2020) |
// | `plain` | players without a search: greedy, random, by a certificate |
// | `engine` | external engines, and our players as one |
// | `participant` | one of our players or an external engine, made by its name |
// | `game` | one game between two players, with every move checked |
// | `tournament` | games of every player against every other, with moves evaluated by the tables |

mod depth_limited;
pub mod engine;
mod game;
mod name;
mod participant;
mod pekar;
mod perfect;
mod plain;
mod player;
mod tournament;

pub use game::{Forfeit, Game, MoveMade, play_game};
pub use name::{PlayerName, UnknownPlayer};
pub use participant::Participant;
pub use plain::ByCertificate;
pub use player::{Choice, PlayError, Player, Setting, Source, Worth};
pub use tournament::{Accuracy, Match, Tournament, random_starts};
