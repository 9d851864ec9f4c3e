//! Output of `kalah --version`; `-V` prints the version alone.

use kalah::isa::Isa;

/// Features that the program was compiled with.
const FEATURES: [(&str, bool); 5] = [
    ("cli", cfg!(feature = "cli")),
    ("gpu", cfg!(feature = "gpu")),
    ("parquet", cfg!(feature = "parquet")),
    ("remote", cfg!(feature = "remote")),
    ("serve", cfg!(feature = "serve")),
];

/// Returns version and commit briefly, for files that belong to one build of the program.
pub fn short() -> String {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), option_env!("KALAH_COMMIT").unwrap_or("unknown"))
}

/// Returns version, commit and features, the instruction set in use, and those of the machine.
pub fn long() -> String {
    let features: Vec<&str> = FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let isa: Vec<&str> = Isa::available().map(Isa::name).collect();
    format!(
        "{}\ncommit: {}\nfeatures: {}\ninstruction set: {}, of {}",
        env!("CARGO_PKG_VERSION"),
        option_env!("KALAH_COMMIT").unwrap_or("unknown"),
        features.join(", "),
        Isa::detect().name(),
        isa.join(", ")
    )
}
