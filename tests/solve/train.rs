//! Training evaluation networks, and searches that use them.

use std::path::Path;
use std::process::Command;

use kalah::build::build;
use kalah::evaluation::{LANES, MOST_HELD, Network, NetworkError, Phase, PhasedNetwork, Weights};
use kalah::game::{Position, Rules};
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::Tables;
use kalah::train::{Fit, TrainError, Trained, Trainer};
use kalah_tests::program::{self, Ran, Run};

const PITS: usize = 4;
const SEEDS: usize = 12;

fn tables(directory: &Path, rules: Rules) -> Tables {
    build(directory, rules, PITS, SEEDS).unwrap();
    Tables::open(directory, rules, PITS, SEEDS).unwrap()
}

fn trained(tables: &Tables) -> Trained {
    Trainer { tables, samples: 20_000, solved: 500, estimated: 3_000, epochs: 4 }.run(&|_| ()).unwrap()
}

fn kalah() -> Command {
    program::command()
}

/// Makes a network of large arbitrary numbers.
fn arbitrary(rules: Rules, pits: usize) -> PhasedNetwork {
    arbitrary_of(rules, pits, 9).into()
}

/// Does the same with a given random seed.
fn arbitrary_of(rules: Rules, pits: usize, seed: u64) -> Network {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut lanes = || -> [i16; LANES] { std::array::from_fn(|_| random.i16(-1000..1000)) };
    let inputs = (0..2 * pits * (MOST_HELD + 1)).map(|_| lanes()).collect();
    let weights = Weights { inputs, bias: lanes(), floor: [0; LANES], outputs: lanes(), shift: 8 };
    Network::new(rules, pits, &weights).unwrap()
}

#[test]
fn training_gives_the_same_network_again_and_it_explains_scores() {
    let directory = tempfile::tempdir().unwrap();
    for rules in Rules::ALL {
        let tables = tables(directory.path(), rules);
        let (one, two) = (trained(&tables), trained(&tables));
        assert_eq!(one.network.to_bytes(), two.network.to_bytes());
        let shares = [one.within, one.above].map(|fit: Fit| fit.explained());
        assert!(shares[0] > 0.5 && shares[1] > 0.3, "{rules}: {shares:?}");
        // Other samples give other numbers.
        let other =
            Trainer { tables: &tables, samples: 19_000, solved: 500, estimated: 0, epochs: 4 }.run(&|_| ()).unwrap();
        assert_ne!(one.network.digest(), other.network.digest());
        assert_eq!(other.network.phases().len(), 1);
    }
}

#[test]
fn there_is_a_phase_for_every_ten_seeds_above_the_tables_and_threads_do_not_change_it() {
    let directory = tempfile::tempdir().unwrap();
    let tables = tables(directory.path(), Rules::EmptyCapture);
    let one = trained(&tables);
    let least: Vec<u32> = one.network.phases().iter().map(|phase| phase.least_seeds).collect();
    assert_eq!(least, [0, 16, 26, 36]);
    let fits: Vec<(u32, f64)> = one.phases.iter().map(|&(least, fit)| (least, fit.explained())).collect();
    assert_eq!(fits.iter().map(|fit| fit.0).collect::<Vec<_>>(), least[1..]);
    assert!(fits.iter().all(|fit| fit.1 > 0.2), "{fits:?}");
    // Estimates with relays take too long.
    assert_eq!(trained(&self::tables(directory.path(), Rules::SKalaha)).network.phases().len(), 1);
    // Without phases, the first network is the same.
    let single =
        Trainer { tables: &tables, samples: 20_000, solved: 500, estimated: 0, epochs: 4 }.run(&|_| ()).unwrap();
    assert_eq!((single.network.first(), single.network.phases().len()), (one.network.first(), 1));
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(threads.install(|| trained(&tables)).network, one.network);
}

#[test]
fn small_boards_have_a_phase_for_every_ten_seeds_too() {
    let directory = tempfile::tempdir().unwrap();
    let boards: [(usize, usize, &[u32]); 4] = [(1, 6, &[0]), (2, 8, &[0, 12]), (2, 15, &[0, 19]), (3, 9, &[0, 13, 23])];
    for (pits, seeds, phases) in boards {
        build(directory.path(), Rules::Standard, pits, seeds).unwrap();
        let tables = Tables::open(directory.path(), Rules::Standard, pits, seeds).unwrap();
        let trained =
            Trainer { tables: &tables, samples: 2_000, solved: 20, estimated: 300, epochs: 1 }.run(&|_| ()).unwrap();
        let least: Vec<u32> = trained.network.phases().iter().map(|phase| phase.least_seeds).collect();
        assert_eq!(least, phases, "{pits} pits");
    }
}

#[test]
fn a_search_uses_the_network_of_the_phase() {
    let directory = tempfile::tempdir().unwrap();
    let rules = Rules::Standard;
    let tables = tables(directory.path(), rules);
    let position: Position = "4x3".parse().unwrap();
    let nodes = |phases: &[(u32, u64)]| {
        let phase = |&(least_seeds, seed)| Phase { least_seeds, network: arbitrary_of(rules, PITS, seed) };
        let network = PhasedNetwork::new(phases.iter().map(phase).collect()).unwrap();
        let options = SolverOptions::new(rules, &position).tables(Some(&tables)).network(Some(&network)).threads(1);
        let solver = Solver::new(options.transpositions(1 << 20)).unwrap();
        solver.score(&position, 12).unwrap();
        solver.nodes()
    };
    assert_ne!(nodes(&[(0, 1)]), nodes(&[(0, 1), (18, 2)]));
    // No evaluated position has fewer than 8 seeds or more than 24.
    assert_eq!(nodes(&[(0, 1)]), nodes(&[(0, 2), (8, 1), (25, 2)]));
}

#[test]
fn tables_that_are_too_small_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), Rules::Standard, PITS, 5).unwrap();
    let tables = Tables::open(directory.path(), Rules::Standard, PITS, 5).unwrap();
    assert!(matches!(Trainer::new(&tables).run(&|_| ()), Err(TrainError::Tables { found: 5, .. })));
}

#[test]
fn values_do_not_depend_on_the_network() {
    let directory = tempfile::tempdir().unwrap();
    for rules in Rules::ALL {
        let tables = tables(directory.path(), rules);
        let (good, bad) = (trained(&tables).network, arbitrary(rules, PITS));
        for position in ["4x2", "<4,1,0,3,0,5,2,1,4,0,2>"] {
            let position: Position = position.parse().unwrap();
            let options =
                SolverOptions::new(rules, &position).transpositions(1 << 20).tables_up_to(6).tables(Some(&tables));
            let found = [None, Some(&good), Some(&bad)].map(|network| {
                let solver = Solver::new(options.clone().network(network)).unwrap();
                solver.score(&position, position.seeds() / 2).unwrap()
            });
            assert_eq!(found, [found[0]; 3], "{rules} {position}");
        }
    }
}

#[test]
fn the_network_beside_the_tables_is_used_and_must_be_sound() {
    let directory = tempfile::tempdir().unwrap();
    let rules = Rules::Standard;
    let tables = tables(directory.path(), rules);
    let position: Position = "4x2".parse().unwrap();
    let nodes = |network: Option<&PhasedNetwork>| {
        let options =
            SolverOptions::new(rules, &position).transpositions(1 << 20).tables_up_to(6).tables(Some(&tables));
        let solver = Solver::new(options.network(network))?;
        solver.score(&position, 8)?;
        Ok::<_, SolveError>(solver.nodes())
    };
    let network = arbitrary(rules, PITS);
    let path = directory.path().join(PhasedNetwork::file_name(rules, PITS));
    assert_ne!(nodes(None).unwrap(), nodes(Some(&network)).unwrap());
    std::fs::write(&path, network.to_bytes()).unwrap();
    assert_eq!(nodes(None).unwrap(), nodes(Some(&network)).unwrap());
    let error = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        match nodes(None) {
            Err(SolveError::Network(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(error(&network.to_bytes()[1..]).error, NetworkError::Header(_)));
    let other = error(&arbitrary(rules, 5).to_bytes());
    assert!(matches!(other.error, NetworkError::Other { .. }), "{other}");
    // The command reports this too, with advice.
    let solve = kalah().args(["solve", "4x2", "--rules", "standard", "--tables"]).arg(directory.path()).run();
    let message = solve.exits(1).stderr();
    assert!(
        message.contains("with 5 pits, not of standard with 4 pits") && message.contains("choose another file"),
        "{message}"
    );
}

#[test]
fn the_command_writes_the_network_beside_the_tables() {
    let directory = tempfile::tempdir().unwrap();
    let tables = tables(directory.path(), Rules::EmptyCapture);
    let train = |more: &[&str]| {
        let mut command = kalah();
        command.args([
            "train",
            "--pits",
            "4",
            "--samples",
            "20000",
            "--solved",
            "500",
            "--estimated",
            "3000",
            "--epochs",
            "4",
        ]);
        command.args(more).arg("--tables").arg(directory.path());
        command.run()
    };
    let text = train(&[]).success();
    let path = directory.path().join("empty-capture-4.network");
    let network = trained(&tables).network;
    assert_eq!(std::fs::read(&path).unwrap(), network.to_bytes());
    let text = text.stdout();
    assert!(text.contains("learned from 29,500 positions"), "{text}");
    let other = directory.path().join("other.network");
    let json = train(&["--threads", "1", "--json", "--output", other.to_str().unwrap()]).success();
    let json: serde_json::Value = json.json();
    assert_eq!(json["digest"], blake3::hash(&network.to_bytes()).to_hex().as_str());
    assert_eq!(std::fs::read(&other).unwrap(), network.to_bytes());

    train(&["--seeds", "14"]).exits(1);
    train(&["--samples", "0"]).exits(2);
    train(&["--output", "/"]).exits(1);
}
