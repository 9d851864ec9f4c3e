//! Published numbers, each file with its source and convention in its first lines.

/// The lines of a reference file, split at commas, without its remarks and its heading.
pub fn lines(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}
