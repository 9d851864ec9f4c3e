use std::collections::VecDeque;
use std::time::Instant;

use kalah_core::cancel::Cancel;
use parking_lot::{Condvar, Mutex};

use super::request::Request;

/// Maximum lines that wait while the player thinks; further lines are refused.
const MAX_WAITING: usize = 64;

/// Setting that a refused line would have changed. Until it is set again, searches are refused, since they
/// would be of another position or game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stale {
    /// Nothing.
    #[default]
    Nothing,
    /// The position.
    Position,
    /// The game: rules, and the position.
    Game,
}

impl Stale {
    /// The setting that a line changes, by its first word.
    pub fn of(line: &str) -> Stale {
        match line.split_whitespace().next() {
            Some("newgame") => Stale::Game,
            Some("position") => Stale::Position,
            _ => Stale::Nothing,
        }
    }
}

/// A line that was read.
pub(super) enum Asked {
    /// A request, the time when it was read, and the token that ends its search: that of all searches between
    /// two lines `stop`.
    Request(Request, Instant, Cancel),
    /// The error in the line, and the setting that it would have changed.
    Wrong(String, Stale),
    /// Number of lines refused because too many waited, and the setting that they would have changed.
    Refused(usize, Stale),
    /// The end of the input.
    End,
}

/// Lines that wait to be executed, in order. Its memory is limited, however many lines come.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Asked>,
    /// True if lines are no longer executed.
    closed: bool,
}

impl Queue {
    /// Adds a line that would change `stale`; never waits. Returns false if lines are no longer executed.
    pub fn pass(&self, asked: Asked, stale: Stale) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return false;
        }
        if waiting.lines.len() < MAX_WAITING || matches!(asked, Asked::End) {
            waiting.lines.push_back(asked);
        } else if let Some(Asked::Refused(count, all)) = waiting.lines.back_mut() {
            (*count, *all) = (*count + 1, stale.max(*all));
        } else {
            waiting.lines.push_back(Asked::Refused(1, stale));
        }
        self.changed.notify_one();
        true
    }

    /// Waits for the first line and removes it.
    pub fn next(&self) -> Asked {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(asked) = waiting.lines.pop_front() {
                return asked;
            }
            self.changed.wait(&mut waiting);
        }
    }

    /// Refuses all further lines.
    pub fn close(&self) {
        self.waiting.lock().closed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted_in_their_place() {
        let queue = Queue::default();
        let wrong = || Asked::Wrong("wrong".to_owned(), Stale::Nothing);
        for _ in 0..MAX_WAITING {
            assert!(queue.pass(wrong(), Stale::Nothing));
        }
        for stale in [Stale::Nothing, Stale::Game, Stale::Position] {
            assert!(queue.pass(wrong(), stale));
        }
        for _ in 0..MAX_WAITING {
            assert!(matches!(queue.next(), Asked::Wrong(..)));
        }
        assert!(queue.pass(Asked::End, Stale::Nothing));
        assert!(matches!(queue.next(), Asked::Refused(3, Stale::Game)));
        assert!(matches!(queue.next(), Asked::End));
        queue.close();
        assert!(!queue.pass(wrong(), Stale::Nothing));
    }
}
