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
    /// A request, the time when it was read, and the token that ends its search.
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

/// Result of adding a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// It is waiting.
    Waits,
    /// It is refused, which is answered at its place.
    Refused,
    /// Lines are no longer executed.
    Closed,
}

impl Queue {
    /// Adds a line that would change `stale`; never waits.
    pub fn pass(&self, asked: Asked, stale: Stale) -> Passed {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Passed::Closed;
        }
        let mut passed = Passed::Waits;
        if waiting.lines.len() < MAX_WAITING || matches!(asked, Asked::End) {
            waiting.lines.push_back(asked);
        } else if let Some(Asked::Refused(count, all)) = waiting.lines.back_mut() {
            (*count, *all, passed) = (*count + 1, stale.max(*all), Passed::Refused);
        } else {
            waiting.lines.push_back(Asked::Refused(1, stale));
            passed = Passed::Refused;
        }
        self.changed.notify_one();
        passed
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
            assert_eq!(queue.pass(wrong(), Stale::Nothing), Passed::Waits);
        }
        for stale in [Stale::Nothing, Stale::Game, Stale::Position] {
            assert_eq!(queue.pass(wrong(), stale), Passed::Refused);
        }
        for _ in 0..MAX_WAITING {
            assert!(matches!(queue.next(), Asked::Wrong(..)));
        }
        assert_eq!(queue.pass(Asked::End, Stale::Nothing), Passed::Waits);
        assert!(matches!(queue.next(), Asked::Refused(3, Stale::Game)));
        assert!(matches!(queue.next(), Asked::End));
        queue.close();
        assert_eq!(queue.pass(wrong(), Stale::Nothing), Passed::Closed);
    }
}
