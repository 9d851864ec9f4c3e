//! Training evaluation networks, and searches that use them.

use kalah::evaluation::{Network, NetworkError, PhasedNetwork, Weights};
use kalah::game::{Position, Rules};
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::Tables;
use kalah::train::{Fit, TrainError, Trained, Trainer};
use kalah_tests::files::copied;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::random::random_network;
use kalah_tests::tables::{built, opened};

const PITS: usize = 4;
const SEEDS: usize = 12;

fn trainer(tables: &Tables) -> Trainer<'_> {
    Trainer { tables, samples: 20_000, solved: 500, estimated: 3_000, epochs: 4 }
}

fn trained(trainer: Trainer) -> Trained {
    trainer.run(&|_| ()).unwrap()
}

fn phases(trained: &Trained) -> Vec<u32> {
    trained.network.phases().iter().map(|phase| phase.least_seeds).collect()
}

#[test]
fn training_gives_the_same_network_again_and_it_explains_scores() {
    for rules in Rules::ALL {
        let tables = opened(rules, PITS, SEEDS);
        let one = trained(trainer(&tables));
        let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(threads.install(|| trained(trainer(&tables))).network.to_bytes(), one.network.to_bytes());
        let shares = [one.within, one.above].map(|fit: Fit| fit.explained());
        assert!(shares[0] > 0.5 && shares[1] > 0.3, "{rules}: {shares:?}");
        // Other samples give other numbers.
        let other = trained(Trainer { samples: 19_000, estimated: 0, ..trainer(&tables) });
        assert_ne!(one.network.digest(), other.network.digest());
        assert_eq!(other.network.phases().len(), 1);
    }
}

#[test]
fn there_is_a_phase_for_every_ten_seeds_above_the_tables() {
    let large = opened(Rules::EmptyCapture, PITS, SEEDS);
    let one = trained(trainer(&large));
    assert_eq!(phases(&one), [0, 16, 26, 36]);
    let fits: Vec<(u32, f64)> = one.phases.iter().map(|&(least, fit)| (least, fit.explained())).collect();
    assert!(fits.iter().map(|fit| fit.0).eq([16, 26, 36]) && fits.iter().all(|fit| fit.1 > 0.2), "{fits:?}");
    // Without phases, the first network is the same.
    let single = trained(Trainer { estimated: 0, ..trainer(&large) }).network;
    assert_eq!((single.first(), single.phases().len()), (one.network.first(), 1));
    for (rules, pits, seeds, expected) in [
        // Estimates with relays take too long.
        (Rules::SKalaha, PITS, SEEDS, &[0][..]),
        (Rules::Standard, 1, 6, &[0]),
        (Rules::Standard, 2, 8, &[0, 12]),
        (Rules::Standard, 2, 15, &[0, 19]),
        (Rules::Standard, 3, 9, &[0, 13, 23]),
    ] {
        let tables = opened(rules, pits, seeds);
        let few = Trainer { tables: &tables, samples: 2_000, solved: 20, estimated: 300, epochs: 1 };
        assert_eq!(phases(&trained(few)), expected, "{rules} {pits} pits");
    }
    let refused = trainer(&opened(Rules::Standard, PITS, 5)).run(&|_| ());
    assert!(matches!(refused, Err(TrainError::Tables { found: 5, .. })));
}

#[test]
fn values_do_not_depend_on_the_network() {
    for rules in Rules::ALL {
        let tables = opened(rules, PITS, SEEDS);
        let good = trained(trainer(&tables)).network;
        // Its evaluations are some hundred times as large.
        let large = Weights { shift: 0, ..random_network(rules, PITS, 9).weights() };
        let bad = Network::new(rules, PITS, &large).unwrap().into();
        for position in ["4x2", "<4,1,0,3,0,5,2,1,4,0,2>"] {
            let position: Position = position.parse().unwrap();
            let options = SolverOptions::new(rules, &position).transpositions(1 << 20).tables_up_to(6);
            let options = options.tables(Some(&tables));
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
    let rules = Rules::Standard;
    let directory = copied(built(&[(rules, PITS, SEEDS)]));
    let tables = Tables::open(directory.path(), rules, PITS, SEEDS).unwrap();
    let position: Position = "4x2".parse().unwrap();
    let nodes = |network: Option<&PhasedNetwork>| {
        let options = SolverOptions::new(rules, &position).transpositions(1 << 20).tables_up_to(6);
        let solver = Solver::new(options.tables(Some(&tables)).network(network))?;
        solver.score(&position, 8)?;
        Ok::<_, SolveError>(solver.nodes())
    };
    let network = PhasedNetwork::from(random_network(rules, PITS, 9));
    let path = directory.path().join(PhasedNetwork::file_name(rules, PITS));
    assert_ne!(nodes(None).unwrap(), nodes(Some(&network)).unwrap());
    std::fs::write(&path, network.to_bytes()).unwrap();
    assert_eq!(nodes(None).unwrap(), nodes(Some(&network)).unwrap());
    let error = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let found = nodes(None);
        let Err(SolveError::Network(error)) = found else { panic!("{found:?}") };
        error.error
    };
    assert!(matches!(error(&network.to_bytes()[1..]), NetworkError::Header(_)));
    let other = PhasedNetwork::from(random_network(rules, 5, 9));
    assert!(matches!(error(&other.to_bytes()), NetworkError::Other { .. }));
    // The command reports this too, with advice.
    let solve = with_tables(directory.path(), "solve 4x2 --rules standard").run();
    solve.fails(1, "with 5 pits, not of standard with 4 pits").prints("choose another file");
}

#[test]
fn the_command_writes_the_network_beside_the_tables() {
    let directory = copied(built(&[(Rules::EmptyCapture, PITS, SEEDS)]));
    let train = |more: &str| {
        let flags = format!("train --pits 4 --samples 20000 --solved 500 --estimated 3000 --epochs 4{more}");
        with_tables(directory.path(), &flags).current_dir(directory.path()).run()
    };
    train("").success().prints("learned from 29,500 positions");
    let read = |name| std::fs::read(directory.path().join(name)).unwrap();
    let expected = trained(trainer(&opened(Rules::EmptyCapture, PITS, SEEDS))).network.to_bytes();
    assert_eq!(read("empty-capture-4.network"), expected);
    let report = train(" --threads 1 --json --output other.network").success().json();
    assert_eq!(report["digest"], blake3::hash(&expected).to_hex().as_str());
    assert_eq!(read("other.network"), expected);
    train(" --seeds 14").exits(1);
    train(" --samples 0").exits(2);
    train(" --output /").exits(1);
}
