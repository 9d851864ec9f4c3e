//! Proofs and certificates.

mod certificate;
mod certificate_encoding;
mod certificates;
mod check_cli;
mod forged_tables;
mod kept_certificates;
mod prove;
mod prove_cli;
mod prove_jobs;
mod stored;
mod strategy;
mod without_searches;
