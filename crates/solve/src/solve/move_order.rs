use kalah_core::game::{Pit, Position, Rules, sow};

/// The moves in roughly the order of the search, so that moves with proved bounds come first.
pub(super) fn in_order(rules: Rules, position: &Position) -> Vec<Pit> {
    let mut moves: Vec<Pit> = position.moves().collect();
    let key = |pit: &Pit| {
        let sown = sow(rules, position.mover(), position.other(), *pit);
        std::cmp::Reverse((sown.again, 4 * sown.stored as usize + pit.index()))
    };
    moves.sort_by_key(key);
    moves
}
