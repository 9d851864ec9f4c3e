//! Published numbers. Each file names its source and convention in its first lines.

/// Lines of a reference file, split at commas, without its remarks and its heading.
pub fn lines(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}
