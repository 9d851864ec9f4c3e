//! Proofs and certificates.

mod certificate;
mod certificate_encoding;
mod certificates;
mod check_cli;
mod forged_tables;
mod kept_certificates;
#[cfg(all(unix, feature = "cli"))]
#[path = "../leases/mod.rs"]
mod leases;
#[path = "../optional/mod.rs"]
mod optional;
mod prove;
mod prove_cli;
mod prove_jobs;
mod stored;
mod strategy;
mod without_searches;
