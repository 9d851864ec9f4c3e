//! Flags and arguments that several commands have.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | boards, directories, threads; parsers of values |
//! | `compute` | what computes tables |
//! | `boards` | boards that a command is about |
//! | `directories` | the directory of the tables, if it is missing |
//! | `positions` | positions as arguments, in files, on standard input |
//! | `games` | files of games |
//! | `player_flags` | players: flags, tables, what players are made with |
//! | `solver_flags` | solving: flags, tables, the solver |
//! | `solve_tables` | tables that are built before a search |

pub mod args;
pub mod boards;
pub mod compute;
pub mod directories;
pub mod games;
pub mod player_flags;
pub mod positions;
pub mod solve_tables;
pub mod solver_flags;
