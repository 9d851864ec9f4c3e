//! The process: how it ends, what stops it, and the limits of the system.
//!
//! | module | what it holds |
//! |---|---|
//! | `outcome` | how commands end, and exit codes |
//! | `signals` | signals that ask the program to end |
//! | `limits` | full disks, too little memory |

pub mod limits;
pub mod outcome;
pub mod signals;
