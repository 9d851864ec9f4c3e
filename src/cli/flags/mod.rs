//! Flags and arguments shared by several commands.
//!
//! | module | contents |
//! |---|---|
//! | `args` | boards, directories, threads; parsers of values |
//! | `compute` | the choice of CPU or GPU |
//! | `tables_flag` | the flag `--tables`, and the command that was given |
//! | `directories` | a missing directory of the tables |
//! | `positions` | positions as arguments, in files, on standard input |
//! | `games` | files of games |
//! | `player_flags` | players: flags, tables, settings |
//! | `solver_flags` | solving: flags, tables, the solver |
//! | `remote` | tables at an address |
//! | `solve_tables` | tables that are built before a search |

pub(super) mod args;
pub(super) mod compute;
pub(super) mod directories;
pub(super) mod games;
pub(super) mod player_flags;
pub(super) mod positions;
pub(super) mod remote;
pub(super) mod solve_tables;
pub(super) mod solver_flags;
pub(super) mod tables_flag;
