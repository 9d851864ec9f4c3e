use super::network::{Network, NetworkError};
use crate::game::Rules;

/// Maximum number of phases.
pub const MOST_PHASES: usize = 16;

/// A phase of the game and the network that evaluates its positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Fewest seeds in play. The phase ends where the next one begins; the last has no end.
    pub least_seeds: u32,
    /// The network.
    pub network: Network,
}

/// One network for each phase of the game. The seeds in play determine the phase.
///
/// A network trained on positions with few seeds evaluates positions with many seeds badly: it has
/// hardly seen their numbers of seeds in a pit. So one network covers positions within the tables,
/// and others may cover those above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedNetwork {
    /// Ordered by seeds; the first phase begins at 0.
    phases: Vec<Phase>,
}

impl PhasedNetwork {
    /// Makes an evaluation from phases, fewest seeds first.
    ///
    /// # Errors
    /// - When the first phase does not begin at 0 seeds.
    /// - When a phase does not begin above the one before it, or begins above 65,535 seeds.
    /// - When the networks are for different rule sets or boards.
    /// - When there are more than [`MOST_PHASES`].
    pub fn new(phases: Vec<Phase>) -> Result<PhasedNetwork, NetworkError> {
        let begins_at_0 = phases.first().is_some_and(|phase| phase.least_seeds == 0);
        let ascends = phases.is_sorted_by(|one, next| one.least_seeds < next.least_seeds);
        let board = |phase: &Phase| (phase.network.rules(), phase.network.pits());
        let of_one_board = phases.iter().all(|phase| board(phase) == board(&phases[0]));
        let fits_the_file =
            phases.len() <= MOST_PHASES && phases.last().is_some_and(|last| u16::try_from(last.least_seeds).is_ok());
        let is_sound = begins_at_0 && ascends && of_one_board && fits_the_file;
        if is_sound { Ok(PhasedNetwork { phases }) } else { Err(NetworkError::Phases) }
    }

    /// All phases, fewest seeds first.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The network of the phase with the fewest seeds, trained on scores from tables. Bound tables
    /// are made with it.
    pub fn first(&self) -> &Network {
        &self.phases[0].network
    }

    /// The network for positions with `seeds` seeds in play.
    #[inline]
    pub fn of(&self, seeds: u32) -> &Network {
        let phase = self.phases[1..].iter().rev().find(|phase| phase.least_seeds <= seeds);
        &phase.unwrap_or(&self.phases[0]).network
    }

    /// Rule set of the networks.
    pub fn rules(&self) -> Rules {
        self.first().rules()
    }

    /// Pits a side of the boards that the networks evaluate.
    pub fn pits(&self) -> usize {
        self.first().pits()
    }
}

impl From<Network> for PhasedNetwork {
    /// Uses one network for all positions.
    fn from(network: Network) -> PhasedNetwork {
        PhasedNetwork { phases: vec![Phase { least_seeds: 0, network }] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{LANES, MOST_HELD, Weights};

    /// Returns a phase whose network adds `output` sixteenths of a seed to half of the seeds.
    fn phase(least_seeds: u32, rules: Rules, output: i16) -> Phase {
        let mut weights = Weights {
            inputs: vec![[0; LANES]; 2 * 6 * (MOST_HELD + 1)],
            bias: [0; LANES],
            floor: [0; LANES],
            outputs: [0; LANES],
            shift: 0,
        };
        (weights.bias[0], weights.outputs[0]) = (1, output);
        Phase { least_seeds, network: Network::new(rules, 6, &weights).unwrap() }
    }

    #[test]
    fn positions_are_evaluated_by_the_network_of_their_phase() {
        let of = [(0, 1), (30, 2), (40, 3)].map(|(least, output)| phase(least, Rules::Standard, output));
        let network = PhasedNetwork::new(of.to_vec()).unwrap();
        let evaluate = |seeds| network.of(seeds).evaluate(&[0; 6], &[0; 6], seeds) - 8 * seeds as i32;
        assert_eq!([0, 29, 30, 39, 40, 96].map(evaluate), [1, 1, 2, 2, 3, 3]);
        assert_eq!(network.first(), network.of(5));
    }

    #[test]
    fn phases_ascend_from_0_and_are_of_one_board() {
        let phase = |(least, rules)| phase(least, rules, 1);
        let new = |of: &[(u32, Rules)]| PhasedNetwork::new(of.iter().copied().map(phase).collect());
        let (standard, other) = (Rules::Standard, Rules::EmptyCapture);
        assert!(new(&[(0, standard), (30, standard)]).is_ok());
        for of in [
            &[][..],
            &[(1, standard)],
            &[(0, standard), (0, standard)],
            &[(0, standard), (40, standard), (30, standard)],
            &[(0, standard), (65_536, standard)],
            &[(0, standard), (30, other)],
        ] {
            assert_eq!(new(of), Err(NetworkError::Phases), "{of:?}");
        }
        let many = |count: u32| PhasedNetwork::new((0..count).map(|least| phase((least, standard))).collect());
        assert!(many(MOST_PHASES as u32).is_ok() && many(MOST_PHASES as u32 + 1).is_err());
    }
}
