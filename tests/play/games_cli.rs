//! Games as text on the command line: every command reads the games that another wrote.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::game::{Pit, Position, Rules};
use kalah::record::{GameRecord, read_game, read_games};
use kalah::solve::{LimitedSearch, Method};
use kalah::table::Tables;
use kalah_tests::place::Place;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;
use serde_json::{Value, json};

/// All tables of 3x2, built once.
fn tables() -> &'static Path {
    built(&[(Rules::Standard, 3, 12)])
}

/// The games of a file.
fn games_of(place: &Place, name: &str) -> Vec<GameRecord> {
    read_games(&place.text(name), Rules::default()).unwrap()
}

#[test]
fn a_tournament_writes_all_its_games() {
    let place = Place::beside(tables());
    let line = "tournament greedy random:3 --start 3x2 --rules standard --self-play --json --save all.games";
    let report = place.run(line).success().json();
    let games = games_of(&place, "all.games");
    let reported = report["games"].as_array().unwrap();
    assert_eq!((games.len(), reported.len()), (4, 4));
    for (game, reported) in games.iter().zip(reported) {
        assert_eq!(game.header("South"), reported["first"].as_str());
        assert_eq!(game.header("North"), reported["second"].as_str());
        assert_eq!(json!(game.result), reported["seeds"]);
    }
    // Each game can be followed, and continued from its last position.
    let second = place.run("review all.games --game 2 --no-tables --json").success().json();
    assert_eq!((&second["line"], &second["rules"]), (&games[1].line.to_string().into(), &"standard".into()));
    // Without a number it is the last game.
    let last = place.run("review all.games --no-tables --json").success();
    assert_eq!(last.json()["line"], games[3].line.to_string());
    last.prints("contains 4 games: this is the last one; --game N takes another");
    let open = "[Rules \"standard\"]\n[Start \"3x2\"]\n\n1\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n2";
    let from = "tournament greedy --rules standard --from - --json --save";
    for (line, stdin, expected) in [
        ("review all.games --game 5", "", "has no game 5"),
        ("tournament greedy --from all.games --rules standard", "", "a game is over"),
        (&format!("{from} all.games"), open, "give --force to replace it"),
        ("tournament greedy --from -", open, "add --rules standard"),
    ] {
        place.command(line).run_with(stdin).fails(1, expected);
    }
    let report = place.command(&format!("{from} other.games")).run_with(open).success().json();
    assert_eq!(report["starts"].as_array().unwrap().len(), 2);
    let ends = read_games(open, Rules::default()).unwrap().iter().map(|game| game.end().0).collect::<Vec<Position>>();
    assert_eq!(games_of(&place, "other.games").iter().map(|game| game.start).collect::<Vec<Position>>(), ends);
}

#[test]
fn a_game_in_the_terminal_is_kept_and_gone_on_with() {
    let place = Place::beside(tables());
    // The input ends after the first move.
    place.command("play 3x2 --rules standard --north greedy --save mine.games").run_with("1\n").success();
    let begun = place.text("mine.games");
    let kept = read_game(&begun, Rules::default()).unwrap();
    assert_eq!((kept.header("South"), kept.header("North")), (Some("human"), Some("greedy")));
    assert!(kept.line.to_string().starts_with('1') && kept.result.is_none());
    let other = "[Rules \"standard\"]\n[Start \"3x2\"]\n[Event \"a club\"]\n\n{a start} 1 {and an answer}";
    let kept = read_game(other, Rules::default()).unwrap();
    assert_eq!((kept.comments.len(), kept.header("Event")), (2, Some("a club")));
    for text in [&begun, other] {
        place.write("mine.games", text);
        let kept = read_game(text, Rules::default()).unwrap();
        let line = "play --from mine.games --south random:1 --north greedy --save mine.games";
        let printed = place.run(line).printed();
        let whole = read_game(&place.text("mine.games"), Rules::default()).unwrap();
        assert!(whole.line.to_string().starts_with(&kept.line.to_string()) && whole.result.is_some());
        assert!(printed.contains(&format!("line {}", whole.line)), "{printed}");
        assert_eq!((whole.rules, &whole.comments), (Rules::Standard, &kept.comments));
        assert_eq!((whole.header("South"), whole.header("Event")), (Some("random:1"), kept.header("Event")));
    }
    place.run("play 3x2 --from mine.games").fails(2, "cannot be used with");
    place.command("play --from -").run_with("[Start \"3x2\"]\n\n9").fails(1, "line 3: '9'");
    place.run("play --from /nonexistent.games").fails(1, "cannot read /nonexistent.games");
}

/// The games of a file stay, in their own words, before the new one.
#[test]
fn games_are_added_to_those_of_a_file() {
    let place = Place::beside(tables());
    let text = "[Event \"old\"]\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n1   {mine}\n\n\n";
    place.write("my.games", text);
    let play =
        |name: &str| place.run(&format!("play 3x2 --rules standard --south greedy --north greedy --save {name}"));
    for count in [2, 3, 4] {
        let before = place.text("my.games");
        play("my.games").success();
        assert!(place.text("my.games").starts_with(before.trim_end()), "{before}");
        assert_eq!(games_of(&place, "my.games").len(), count);
        assert!(games_of(&place, "my.games")[count - 1].result.is_some());
    }
    place.run("play --from my.games --game 1 --save my.games").fails(1, "contains 4 games");
    // The file itself, not a link to it, is replaced.
    #[cfg(unix)]
    {
        let link = place.at("link.games");
        std::os::unix::fs::symlink("my.games", &link).unwrap();
        play("link.games").success();
        assert!(link.is_symlink() && games_of(&place, "my.games").len() == 5);
    }
    for (text, why) in [("my notes\n", "is not a turn"), ("[remote \"origin\"]\n  url = x\n", "line 2")] {
        place.write("my.games", text);
        play("my.games").fails(1, why);
        assert_eq!(place.text("my.games"), text);
    }
}

fn puzzles(flags: &str) -> Output {
    with_tables(tables(), &format!("puzzles {flags}")).run()
}

#[test]
fn puzzles_have_one_move_that_keeps_the_outcome() {
    let report = puzzles("--start 3x2 --rules standard --count 5 --json").success().json();
    let again = puzzles("--start 3x2 --rules standard --count 5 --json").success().json();
    assert_eq!(again, report, "the same seed finds the same puzzles");
    let tables = Tables::open(tables(), Rules::Standard, 3, 12).unwrap();
    let found = report["puzzles"].as_array().unwrap();
    assert_eq!(found.len(), 5);
    for puzzle in found {
        let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
        let moves = tables.move_scores(&position).unwrap();
        let mut values: Vec<(i64, Pit)> = moves.into_iter().map(|(pit, score)| (position.value(score), pit)).collect();
        values.sort_by_key(|&(value, _)| -value);
        assert_eq!(puzzle["move"], values[0].1.number());
        assert_eq!((&puzzle["value"], &puzzle["second"]), (&values[0].0.into(), &values[1].0.into()));
        assert!(values[0].0 >= 0 && values[0].0.signum() > values[1].0.signum());
        assert_eq!(puzzle["turns"], puzzle["line"].as_str().unwrap().split(' ').count());
        let expected = match puzzle["depth"].as_u64().unwrap() {
            0..=2 => "easy",
            3..=5 => "medium",
            _ => "hard",
        };
        assert_eq!(puzzle["level"], expected);
    }
    puzzles("--start 4x2").fails(1, "kalah build");
    puzzles("--start 3x2 --rules standard --count 1000000 --games 3").exits(1).prints("found only");
    puzzles("--level odd").fails(2, "the levels are easy, medium and hard");
}

#[test]
fn puzzles_are_chosen_by_seeds_and_by_what_tempts() {
    let find = |flags: &str| {
        let report = puzzles(&format!("--start 3x2 --rules standard --count 4 --json{flags}")).success().json();
        report["puzzles"].as_array().unwrap().clone()
    };
    let tempts = |puzzle: &Value| {
        let position: Position = puzzle["position"].as_str().unwrap().parse().unwrap();
        let search = LimitedSearch::new(Rules::Standard, Method::SeqAb, 1);
        search.run(&position).best.map(|pit| pit.number() as u64) != puzzle["move"].as_u64()
    };
    let is_large = |puzzle: &Value| puzzle["seeds"].as_u64() >= Some(9);
    let (large, tempting, any) = (find(" --in-play 9"), find(" --tempting"), find(""));
    assert!(large.iter().all(is_large) && !any.iter().all(is_large), "{large:?} {any:?}");
    assert!(tempting.iter().all(tempts) && !any.iter().all(tempts), "{tempting:?} {any:?}");
}
