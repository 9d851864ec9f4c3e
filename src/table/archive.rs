//! Seekable zstd archives of tables, for storage and download.
