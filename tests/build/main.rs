//! Building tables on the CPU, alone and by several processes.

mod cluster;
mod cluster_scripts;
mod control_groups;
mod dependencies;
mod forged_frames;
mod interrupted;
mod kernels;
mod large_frames;
mod layers;
mod limited;
mod memory;
mod pieces;
mod relays;
mod resume;
mod row_moves;
