//! Tables at an address: reading by blocks, the cache, and downloads, against file servers on this machine that behave
//! well, badly, and against the rules.

mod commands;
mod damage;
mod fetch;
mod reading;
mod refusals;
mod setup;
mod sharing;
