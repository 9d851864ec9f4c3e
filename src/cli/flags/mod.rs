//! Flags and arguments shared by several commands.
//!
//! | module | contents |
//! |---|---|
//! | `args` | boards, directories, threads; parsers of values |
//! | `given` | the command that was given, and its arguments |
//! | `compute` | the choice of CPU or GPU |
//! | `addresses` | addresses in place of directories |
//! | `tables_flag` | the flag `--tables` |
//! | `directories` | a missing directory of the tables |
//! | `positions` | positions as arguments, in files, on standard input |
//! | `games` | files of games |
//! | `player_flags` | players: flags, tables, settings |
//! | `solver_flags` | solving: flags, tables, the solver |
//! | `remote` | tables at an address |
//! | `solve_tables` | tables that are built before a search |

pub mod addresses;
pub mod args;
pub mod compute;
pub mod directories;
pub mod games;
pub mod given;
pub mod player_flags;
pub mod positions;
pub mod remote;
pub mod solve_tables;
pub mod solver_flags;
pub mod tables_flag;
