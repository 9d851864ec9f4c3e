//! Random text as positions and lines of play.

use kalah::game::Position;
use proptest::prelude::*;

use crate::fuzz;

#[test]
fn what_is_read_as_a_position_is_written_and_read_again() {
    let text = prop_oneof![".{0,40}", "[<>0-9,/x -]{0,60}", "<?[0-9]{1,3}(,[0-9]{1,4}){2,20}>?"];
    fuzz("positions", &text, |text| {
        if let Ok(position) = text.parse::<Position>() {
            prop_assert_eq!(position.to_string().parse::<Position>().ok(), Some(position));
        }
        Ok(())
    });
}
