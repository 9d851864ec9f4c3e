//! Parts that the test programs share: the program, its server, and browsers.

pub mod browser;
pub mod program;
pub mod serving;
