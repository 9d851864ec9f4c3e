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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::evaluation::MoveScore;

    #[test]
    fn each_order_is_found_once() {
        let board = |mover: u64| Board { mover, other: 5 };
        let child = |mover: u64, again: bool| Child {
            node: Node { board: board(mover), seeds: 9 },
            stored: 0,
            again,
            move_score: MoveScore::new(0, again, 0, board(mover)),
        };
        let node = |mover: u64| Node { board: board(mover), seeds: 9 };
        let search = |children: &mut [Child<u64>]| {
            children.iter_mut().zip(10..).for_each(|(child, evaluation)| child.move_score.evaluation = evaluation);
            7
        };
        let evaluations = |children: &[Child<u64>]| -> Vec<i32> {
            children.iter().map(|child| child.move_score.evaluation).collect()
        };
        for threads in [1, 2] {
            let orders = SharedOrders::new(threads);
            let mut children = [child(1, false), child(2, true), child(2, false)];
            assert_eq!(orders.once(3, node(1), 4, &mut children, search), 7);
            assert_eq!(evaluations(&children), [10, 11, 12]);
            // The same test with the moves in another order, and a move that was missing.
            let mut other = [child(2, false), child(8, false), child(2, true), child(1, false)];
            let nodes = orders.once(3, node(1), 4, &mut other, search);
            let (found, shared) = ([10, 11, 12, 13], [12, 0, 11, 10]);
            assert_eq!((nodes, &evaluations(&other)[..]), if threads > 1 { (0, &shared[..]) } else { (7, &found[..]) });
            // Other tests with the same hash. One that finds nothing leaves the last one.
            for (mover, score) in [(1, 5), (2, 5)] {
                assert_eq!(orders.once(3, node(mover), score, &mut children, |_| 0), 0);
                assert_eq!(orders.once(3, node(mover), score, &mut children, search), 7);
            }
        }
    }
}
