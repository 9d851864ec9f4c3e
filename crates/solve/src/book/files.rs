//! Files of books (docs/book.md), and the sources of books: the program itself, or a file beside the tables.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytemuck::{Pod, Zeroable};
use kalah_base::file;
use kalah_core::directory::Directory;
use kalah_core::file::InFile;
use kalah_core::game::{MAX_PITS, Rules};
use kalah_core::header::{self, HeaderError, Kind, Start, sealed};

use super::book::{Book, BookError};
use crate::blocks::{compressed, take};
use crate::bounds::{ClaimKeys, ClaimSet};

/// The books shipped with the program, made by `kalah book make` (docs/book.md).
const SHIPPED: &[&[u8]] = &[include_bytes!("data/empty-capture-6.book"), include_bytes!("data/standard-6.book")];

/// Maximum size of a book's file.
const MAX_BYTES: u64 = 1 << 30;

impl Book {
    /// The shipped book for a rule set and board, if there is one. It is read when it is first asked for.
    pub fn shipped(rules: Rules, pits: usize) -> Option<&'static Book> {
        static BOOKS: [OnceLock<Book>; SHIPPED.len()] = [const { OnceLock::new() }; SHIPPED.len()];
        let sound = "the program's own books are sound";
        let is_it = |bytes: &&[u8]| {
            let raw: RawHeader = header::read(bytes, Kind::Book, VERSION).expect(sound);
            (raw.rules, usize::from(raw.pits)) == (rules.code(), pits)
        };
        let number = SHIPPED.iter().position(is_it)?;
        Some(BOOKS[number].get_or_init(|| Book::from_bytes(SHIPPED[number]).expect(sound)))
    }

    /// File name of a book in a directory of tables, such as `empty-capture-6.book`.
    pub fn file_name(rules: Rules, pits: usize) -> String {
        format!("{rules}-{pits}.book")
    }

    /// Reads a book from the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Book, InFile<BookError>> {
        let path = path.as_ref();
        let read = || -> Result<Book, BookError> {
            let file = kalah_core::file::open(path)?;
            // A file of this name can be anything, of any size.
            if file.metadata()?.len() > MAX_BYTES {
                return Err(HeaderError::Foreign(Kind::Book).into());
            }
            let mut bytes = Vec::new();
            file.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Book::from_bytes(&bytes)
        };
        read().map_err(InFile::of(path))
    }

    /// Reads the book for a rule set and board from the file at `path`; `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is for another rule set or board.
    pub fn open_for(path: impl AsRef<Path>, rules: Rules, pits: usize) -> Result<Option<Book>, InFile<BookError>> {
        let path = path.as_ref();
        match Book::open(path) {
            Err(InFile { error: BookError::Io(error), .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok(book) if (book.rules(), book.pits()) != (rules, pits) => {
                let error = BookError::Other { found: (book.rules(), book.pits()), expected: (rules, pits) };
                Err(InFile::of(path)(error))
            }
            opened => opened.map(Some),
        }
    }

    /// Writes the book to the file at `path`, and replaces an old file once the new one is complete.
    ///
    /// # Errors
    /// If it cannot be written; the old file stays then.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), InFile<BookError>> {
        let path = path.as_ref();
        let bytes = self.to_bytes();
        file::replace(path, |file| file.write_all(&bytes)).map_err(BookError::Io).map_err(InFile::of(path))
    }
}

/// The books in use: for each rule set and board the one in the directory of the tables, else the shipped one.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// Those that replace the shipped ones of their boards.
    own: Vec<Arc<Book>>,
    /// The rule sets whose shipped books are used.
    shipped: Vec<Rules>,
}

impl Books {
    /// No books.
    pub fn none() -> Books {
        Books::default()
    }

    /// The shipped books.
    pub fn shipped() -> Books {
        Books { own: Vec::new(), shipped: Rules::ALL.to_vec() }
    }

    /// These books and `book`, in place of that of its board.
    #[must_use]
    pub fn with(&self, book: Book) -> Books {
        let Books { mut own, shipped } = self.clone();
        own.retain(|other| (other.rules(), other.pits()) != (book.rules(), book.pits()));
        own.push(Arc::new(book));
        Books { own, shipped }
    }

    /// Finds the books for some rule sets to use with the tables in `directory`: files with the
    /// [names](Book::file_name) of books, and the [shipped](Book::shipped) books of other boards.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, or is for another rule set or board.
    pub fn find(directory: impl Into<Directory>, rule_sets: &[Rules]) -> Result<Books, InFile<BookError>> {
        let directory = directory.into();
        let mut books = Books { own: Vec::new(), shipped: rule_sets.to_vec() };
        for (&rules, pits) in rule_sets.iter().flat_map(|rules| (1..=MAX_PITS).map(move |pits| (rules, pits))) {
            let path = directory.file(&Book::file_name(rules, pits));
            books.own.extend(Book::open_for(&path, rules, pits)?.map(Arc::new));
        }
        Ok(books)
    }

    /// The books, by rule set and pits.
    pub fn iter(&self) -> impl Iterator<Item = &Book> {
        let boards = Rules::ALL.into_iter().flat_map(|rules| (1..=MAX_PITS).map(move |pits| (rules, pits)));
        boards.filter_map(|(rules, pits)| self.get(rules, pits))
    }

    /// The book for a rule set and board, if there is one.
    pub fn get(&self, rules: Rules, pits: usize) -> Option<&Book> {
        let own = self.own.iter().find(|book| (book.rules(), book.pits()) == (rules, pits));
        let shipped = || Book::shipped(rules, pits).filter(|_| self.shipped.contains(&rules));
        own.map(|book| &**book).or_else(shipped)
    }
}

/// The version that this program reads and writes.
const VERSION: u32 = 2;

/// Maximum number of positions.
const MAX_ENTRIES: u64 = 1 << 26;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    start: Start,
    rules: u8,
    pits: u8,
    reserved: u16,
    entries: u64,
    digest: [u8; 32],
    checksum: u64,
}

impl Book {
    /// BLAKE3 of the contents. Two books are equal exactly if their digests are.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        hash.update(&[self.rules().code(), self.pits() as u8]);
        for (key, bounds) in self.claims.coded() {
            hash.update(&key.to_le_bytes()).update(&bounds);
        }
        *hash.finalize().as_bytes()
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (list, blocks) = compressed(self.claims.coded()).expect("memory is written without errors");
        let header = sealed(RawHeader {
            start: Start::new(Kind::Book, VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            reserved: 0,
            entries: (self.len() as u64).to_le(),
            digest: self.digest(),
            checksum: 0,
        });
        [bytemuck::bytes_of(&header), &list, &blocks.concat()].concat()
    }

    /// Parses the `bytes` of a file.
    ///
    /// # Errors
    /// If they are not a complete and unchanged book.
    pub fn from_bytes(bytes: &[u8]) -> Result<Book, BookError> {
        let raw: RawHeader = header::read(bytes, Kind::Book, VERSION)?;
        let mut blocks = &bytes[size_of::<RawHeader>()..];
        let damaged = || BookError::from(HeaderError::Damaged);
        let rules = Rules::from_code(raw.rules).filter(|_| raw.reserved == 0).ok_or_else(damaged)?;
        let pits = Some(usize::from(raw.pits)).filter(|pits| (1..=MAX_PITS).contains(pits)).ok_or_else(damaged)?;
        let count = Some(u64::from_le(raw.entries)).filter(|&count| count <= MAX_ENTRIES).ok_or_else(damaged)?;
        let keys = ClaimKeys::new(pits);
        let claims = take(&mut blocks, count, &keys).filter(|_| blocks.is_empty());
        let book = claims.map(|claims| Book::of(rules, ClaimSet::of_sorted(keys, claims)));
        book.filter(|book| book.digest() == raw.digest).ok_or(BookError::Damaged("its entries are wrong"))
    }
}
