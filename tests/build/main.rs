//! Building tables on the CPU, alone and by several processes.

mod cluster;
mod cluster_scripts;
mod control_groups;
#[path = "../files/mod.rs"]
mod files;
mod forged_frames;
mod interrupted;
mod kernels;
mod large_frames;
mod layers;
#[cfg(all(unix, feature = "cli"))]
#[path = "../leases/mod.rs"]
mod leases;
mod limited;
mod memory;
#[path = "../optional/mod.rs"]
mod optional;
mod packed;
mod pieces;
#[cfg(all(unix, feature = "cli"))]
mod processes;
mod relays;
mod resume;
mod row_moves;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
