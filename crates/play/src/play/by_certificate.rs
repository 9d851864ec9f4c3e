use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use kalah_solve::certificate::{Basis, Strategy};

use super::{Choice, PlayError, Player, Source, Worth};

/// Plays the [`Strategy`] of a certificate, which never loses what the certificate states.
#[derive(Debug)]
pub struct ByCertificate<'a>(Strategy<'a>);

impl<'a> ByCertificate<'a> {
    /// The name of the player.
    pub const NAME: &'static str = "certificate";

    /// A player by this strategy.
    pub fn new(strategy: Strategy<'a>) -> ByCertificate<'a> {
        ByCertificate(strategy)
    }
}

impl Player for ByCertificate<'_> {
    fn name(&self) -> String {
        ByCertificate::NAME.to_owned()
    }

    fn choose(&mut self, position: &Position, _: &Cancel, _: &mut dyn FnMut(&Choice)) -> Result<Choice, PlayError> {
        let chosen = self.0.choose(position)?.ok_or(PlayError::GameOver)?;
        let [lower, upper] = [chosen.bounds.lower, chosen.bounds.upper].map(|score| position.value(score));
        let worth = if lower == upper { Worth::Exact(lower) } else { Worth::Bounds { lower, upper } };
        let source = match chosen.basis {
            Basis::Tables => Source::Tables,
            Basis::Claims => Source::Certificate,
            Basis::NoClaims => Source::Rule("most stored"),
        };
        Ok(Choice { pit: chosen.pit, worth, source })
    }
}
