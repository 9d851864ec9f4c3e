//! Players of the game, from a random one to one that cannot be beaten, and games between them.
//!
//! A [`PlayerName`] such as `perfect` or `minimax:6` makes a [`Player`] with a [`Setting`]; a player answers a position
//! with a [`Choice`], at the latest when a [`Cancel`](kalah_core::cancel::Cancel) says so:
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
//!
//! | module | contents |
//! |---|---|
//! | [`player`](Player) | what a player is asked |
//! | [`choice`](Choice) | what it answers: a move, what is known of its value, and how |
//! | `budget` | how many positions it may visit |
//! | [`name`](PlayerName) | the names of all players, read and written |
//! | [`make`](PlayerName::player) | the player of a name |
//! | [`setting`](Setting) | what they are made with: rules, tables, memory |
//! | `perfect` | the tables, the book, then the solver; else the best evaluation |
//! | `depth_limited` | minimax and alpha-beta to a limited depth (Gonai and Cendejas 2022) |
//! | `pekar` | a heuristic and two minimax players (Pekař et al. 2020) |
//! | `plain` | players without a search: greedy, random |
//! | [`fault`](EngineFault) | what an external engine can do wrong |
//! | [`engine`] | external engines, and our players as one |
//! | [`participant`](Participant) | one of our players or an external engine |
//! | [`game`](play_game) | one game between two players, every move checked |
//! | [`tournament`](Tournament) | every player against every other, with the moves evaluated by the tables |
//! | [`statistics`](Median) | medians and how sure they are |

mod budget;
mod choice;
mod depth_limited;
pub mod engine;
mod fault;
mod game;
mod make;
mod name;
mod participant;
mod pekar;
mod perfect;
mod plain;
mod player;
mod setting;
mod statistics;
mod tournament;

pub use choice::{Choice, Source, Worth};
pub use fault::EngineFault;
pub use game::{Forfeit, Game, MoveMade, play_game};
pub use name::{PlayerName, UnknownPlayer};
pub use participant::{Participant, UnknownParticipant};
pub use player::{PlayError, Player};
pub use setting::Setting;
pub use statistics::Median;
pub use tournament::{Accuracy, Match, Tournament, random_starts};
