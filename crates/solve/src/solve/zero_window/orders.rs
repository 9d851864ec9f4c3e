use parking_lot::Mutex;

use super::expansion::{Child, Node};
use crate::solve::packed::{Board, Word};

/// Number of places for orders.
const PLACES: usize = 1 << 12;

/// Evaluations of moves by depth-limited searches, shared by threads.
///
/// Threads meet high above the tables, where these searches are longest. Without sharing, each would do the
/// same work (docs/measurements.md). An order changes no result, only the time.
pub(crate) struct SharedOrders<W>(Box<[Mutex<Order<W>>]>);

/// The evaluations of a position's moves for a test.
struct Order<W> {
    /// The position and the tested score; `None` in an unused place.
    of: Option<(Board<W>, u32)>,
    /// The position after each move, true if the mover moves again, and the evaluation.
    moves: Vec<(Board<W>, bool, i32)>,
}

impl<W: Word> SharedOrders<W> {
    /// Places for orders of `threads` threads: none for one thread.
    pub(crate) fn new(threads: usize) -> SharedOrders<W> {
        let places = if threads > 1 { PLACES } else { 0 };
        SharedOrders((0..places).map(|_| Mutex::new(Order { of: None, moves: Vec::new() })).collect())
    }

    /// Gives the `children` of `node` the evaluations that another thread found for the test of `score`.
    /// Otherwise `search` finds them, and a thread that comes meanwhile waits. Returns the result of `search`,
    /// or 0 if it was not called. `hash` is that of position and score.
    pub(crate) fn once(
        &self,
        hash: u64,
        node: Node<W>,
        score: u32,
        children: &mut [Child<W>],
        search: impl FnOnce(&mut [Child<W>]) -> u32,
    ) -> u32 {
        let Some(place) = (hash as usize).checked_rem(self.0.len()) else { return search(children) };
        let mut order = self.0[place].lock();
        let of = Some((node.board, score));
        if order.of == of {
            for child in children {
                let is_it =
                    |&&(board, again, _): &&(Board<W>, bool, i32)| (board, again) == (child.node.board, child.again);
                if let Some(&(.., evaluation)) = order.moves.iter().find(is_it) {
                    child.move_score.evaluation = evaluation;
                }
            }
            return 0;
        }
        let nodes = search(children);
        if nodes > 0 {
            order.of = of;
            order.moves.clear();
            order
                .moves
                .extend(children.iter().map(|child| (child.node.board, child.again, child.move_score.evaluation)));
        }
        nodes
    }
}
