//! Whole boards: the tables of the papers, openings, exported scores.

mod complexity;
mod export;
mod graph;
mod opening;
mod published;
