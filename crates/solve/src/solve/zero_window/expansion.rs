use crate::solve::evaluation::MoveScore;
use crate::solve::packed::{Board, BoardKeys, MoveList, Sower, Sown, Word};
use crate::solve::probing::{ScoreLocation, TableScores};

/// A position to search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<W> {
    pub board: Board<W>,
    /// Seeds in play.
    pub seeds: u32,
}

/// A position after a move that must be searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<W> {
    pub node: Node<W>,
    /// Seeds that the move stores.
    pub stored: u32,
    /// True if the mover moves again.
    pub again: bool,
    pub move_score: MoveScore,
}

impl<W> Child<W> {
    /// The move-ordering score.
    #[inline]
    pub(crate) fn score(&self) -> i32 {
        self.move_score.total()
    }
}

/// A position after a move with a score or bounds in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTables<W> {
    pub node: Node<W>,
    /// The pit that was played.
    pub pit: u8,
    pub again: bool,
    /// Seeds that the move stores.
    pub stored: u32,
}

impl<W: Word> InTables<W> {
    /// The position as a child to search, since its bounds do not decide the test.
    pub(crate) fn child(&self) -> Child<W> {
        let InTables { node, pit, again, stored, .. } = *self;
        Child { node, stored, again, move_score: MoveScore::new(pit.into(), again, stored, node.board) }
    }
}

/// Certain facts about a position after its moves are played.
pub(crate) struct Certain {
    /// Seeds that the mover collects at least, by seeds stored and games ended in one move.
    pub lower: u32,
    /// Maximum that the mover collects by a move that ends the game.
    pub ended: u32,
    /// Location of the first of the known scores or bounds, if there is one.
    pub first: ScoreLocation,
}

/// Plays the moves of positions.
#[derive(Clone, Copy)]
pub(crate) struct Expander<'a, 't, W> {
    pub sower: &'a Sower<W>,
    pub keys: &'a BoardKeys<W>,
    pub tables: &'a TableScores<'t>,
}

impl<W: Word> Expander<'_, '_, W> {
    /// Plays the moves of a position for the test whether the mover collects `score`. Moves to positions in tables
    /// go to `known`, all others that do not end the game to `children`.
    ///
    /// Only the first of the known scores or bounds is located, and prefetched unless the test is already
    /// decided. Ranks of rows must be fetched too, each fetch costs a page-table walk, and most tests end after
    /// the first.
    #[inline]
    pub(crate) fn expand(
        &self,
        node: Node<W>,
        score: u32,
        known: &mut W::Moves<InTables<W>>,
        children: &mut Vec<Child<W>>,
    ) -> Certain {
        let Expander { sower, tables, .. } = *self;
        known.clear();
        let mut certain = Certain { lower: 0, ended: 0, first: ScoreLocation::default() };
        for pit in (0..sower.pits()).rev() {
            if node.board.mover.seeds_in(pit) == 0 {
                continue;
            }
            let sown = sower.sow(node.board, pit);
            let Sown { board, stored, again } = sown;
            if board.is_over() {
                // The remaining seeds belong to the owner of their row.
                certain.ended = certain.ended.max(stored + board.mover.total());
                continue;
            }
            certain.lower = certain.lower.max(stored);
            let (board, seeds) = (sown.next(), node.seeds - stored);
            let node = Node { board, seeds };
            if seeds as usize <= tables.reach() {
                if known.is_empty() {
                    certain.first = self.locate(node);
                }
                known.push(InTables { node, pit: pit as u8, again, stored });
            } else {
                let move_score = MoveScore::new(pit, again, stored, board);
                children.push(Child { node, again, stored, move_score });
            }
        }
        certain.lower = certain.lower.max(certain.ended);
        if let Some(known) = known.first().filter(|_| certain.lower < score) {
            tables.prefetch(known.node.seeds, certain.first);
        }
        certain
    }

    /// Location of the score or bounds of a position in tables.
    #[inline]
    pub(crate) fn locate(&self, node: Node<W>) -> ScoreLocation {
        let Node { board, seeds } = node;
        let mover = board.mover.sums();
        self.tables.locate(seeds, mover.last(), self.keys.row(mover), self.keys.row(board.other.sums()))
    }
}
