//! What `kalah --version` prints; `-V` prints the version alone.

use kalah::isa::Isa;

/// The features that the program was compiled with.
const FEATURES: [(&str, bool); 5] = [
    ("cli", cfg!(feature = "cli")),
    ("gpu", cfg!(feature = "gpu")),
    ("parquet", cfg!(feature = "parquet")),
    ("plot", cfg!(feature = "plot")),
    ("serve", cfg!(feature = "serve")),
];

/// Version and commit in a few words, for files that belong to one program.
pub fn short() -> String {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), option_env!("KALAH_COMMIT").unwrap_or("unknown"))
}

/// Version, commit, features; the instruction set that is used, and those that the machine has.
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
