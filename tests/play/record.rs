//! Games as text: games that were written can be read, and faults are reported with their line.

use kalah::game::{Pit, Position, Rules};
use kalah::record::{self, GameRecord, RecordError};
use proptest::prelude::*;

fn read_games(text: &str) -> Result<Vec<GameRecord>, RecordError> {
    record::read_games(text, Rules::default())
}

fn read_game(text: &str) -> Result<GameRecord, RecordError> {
    record::read_game(text, Rules::default())
}

/// Plays random moves by `choices`, to the end of the game or of the choices.
pub(super) fn played(rules: Rules, start: Position, choices: &[usize]) -> GameRecord {
    let (mut position, mut moves) = (start, Vec::new());
    for choice in choices {
        let legal: Vec<Pit> = position.moves().collect();
        if legal.is_empty() {
            break;
        }
        let pit = legal[choice % legal.len()];
        moves.push(pit);
        position = position.play(rules, pit).unwrap().position;
    }
    GameRecord::of_moves(rules, start, &moves).unwrap()
}

prop_compose! {
    fn game()(
        rules in 0..Rules::ALL.len(),
        start in prop_oneof![
            Just("6x4"),
            Just("3x2"),
            Just("12x3"),
            Just("<2,7,5,1,0,0,2>"),
            Just("1,0,4/2,2,2"),
            Just("16x1"),
            Just("1x1"),
        ],
        choices in prop::collection::vec(0_usize..16, 0..120),
        headers in prop::collection::btree_map("[A-Z][A-Za-z0-9_]{0,8}x", r#"[ -~äß"\\]{0,20}"#, 0..4),
        players in prop::option::of((".{0,9}", ".{0,9}")),
        comments in prop::collection::vec((0_usize..90, r#"([ -~äß\n\t\[{};]|[0-9a-z ]){0,200}"#), 0..5),
    ) -> GameRecord {
        let mut game = played(Rules::ALL[rules], start.parse().unwrap(), &choices);
        if let Some((south, north)) = players {
            game = game.with_header("South", &south).with_header("North", &north);
        }
        let game = headers.into_iter().fold(game, |game, (name, value)| game.with_header(&name, &value));
        comments.into_iter().fold(game, |game, (turns, text)| game.with_comment(turns, &text))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(games in prop::collection::vec(game(), 1..4)) {
        let text: Vec<String> = games.iter().map(ToString::to_string).collect();
        // A comment, or one word of it, may be longer than a line.
        let long = |line: &str| line.chars().count() > 80 && line.contains(' ') && !line.contains("; ");
        prop_assert!(!text.concat().lines().any(|line| !line.starts_with('[') && long(line)), "{}", text.concat());
        prop_assert_eq!(read_games(&text.join("\n")).unwrap(), games.clone());
        prop_assert_eq!(read_game(&text[0]).unwrap(), games[0].clone());
        // Line ends of other systems, and no line ends at all after the headers.
        prop_assert_eq!(read_games(&text.join("\n").replace('\n', "\r\n")).unwrap(), games);
    }

    #[test]
    fn no_text_crashes_the_reader(text in r#"([\[\]"{};*.,x/<> \n-]|[0-9]|Rules|Start|\PC){0,80}"#) {
        if let Ok(games) = read_games(&text) {
            for game in games {
                prop_assert_eq!(read_game(&game.to_string()).unwrap(), game);
            }
        }
    }
}

#[test]
fn a_game_is_read_in_every_form() {
    let variations = "1. 36 (1. 4 {one\n) } 2 (2 ; three )\n1)) 21 {two} (1... 1)(3)\n2. 4";
    for (text, comments) in [
        ("36 21\n4", &[][..]),
        ("1.36 1...21 2.4 *", &[]),
        // Variations are skipped.
        (variations, &[(2, "two".to_owned())]),
    ] {
        let game = read_game(text).unwrap();
        assert_eq!((game.rules, game.start), (Rules::default(), "6x4".parse().unwrap()), "{text}");
        assert_eq!((game.line.to_string(), game.result), ("36 21 4".to_owned(), None), "{text}");
        assert_eq!((game.comments.as_slice(), game.headers.len()), (comments, 0), "{text}");
    }
}

#[test]
fn games_of_other_programs_are_read() {
    let examples: serde_json::Value = serde_json::from_str(include_str!("other-forms.json")).unwrap();
    for example in examples.as_array().unwrap() {
        let text = example["text"].as_str().unwrap();
        let read = read_game(text);
        let found = read.as_ref().ok().map(|game| {
            let pits: Vec<usize> = game.moves().into_iter().map(Pit::number).collect();
            (serde_json::json!(pits), game.rules.name())
        });
        let expected = example["rules"].as_str().map(|rules| (example["moves"].clone(), rules));
        assert_eq!(found, expected, "{text}");
        if let Ok(game) = read {
            assert_eq!(read_games(text).unwrap(), [game]);
        }
    }
    // A text without rules has those that are given.
    for (text, rules) in [("36 21", "standard"), ("CF BA", "standard"), ("[Rules \"single-move\"]\n3 2", "single-move")]
    {
        assert_eq!(record::read_game(text, Rules::Standard).unwrap().rules.name(), rules, "{text}");
    }
}

#[test]
fn comments_are_kept_where_they_were() {
    let text = "; before\n[Start \"6x4\"]\n{of\n[it]; 1-1} 36 {a good \\{ start} 7... 21;then } it\n\
        4 * {last}\n[Start \"3x2\"]\n1";
    let games = read_games(text).unwrap();
    let of_game = "of [it]; 1-1";
    let expected = [(0, "before"), (0, of_game), (1, "a good \\{ start"), (2, "then it"), (3, "last")];
    assert_eq!(games[0].comments, expected.map(|(turns, text)| (turns, text.to_owned())));
    assert_eq!(games[1].comments, []);
    let written = games[0].to_string();
    let moves = format!("\n\n{{before}} {{{of_game}}} 1. 36 {{a good \\{{ start}} 21 {{then it}} 2. 4 {{last}} *\n");
    assert!(written.ends_with(&moves), "{written}");
    // A text of comments alone has no game.
    assert_eq!(read_games("; nothing here\n{or here}").unwrap(), []);
    assert!(read_game("{nothing}").unwrap_err().to_string().contains("no game"));
}

#[test]
fn faults_are_reported_with_their_line() {
    for (text, line, message) in [
        ("", 1, "there is no game"),
        ("[Start \"6x4\"]\n\n36 21\n3 4 5\n77", 5, "not a turn"),
        ("[Start \"6x4\"]\n\n36 21\n4 11", 4, "turn 4"),
        ("36 21 4\n{no end\n\n", 2, "has no }"),
        ("36 }", 1, "without a comment"),
        ("36 2\n(36\n1", 2, "has no )"),
        ("36 2 )", 1, "a ) without"),
        ("[Start \"6x4\"\n36", 1, "not a header"),
        ("[Start \"6x\\4\"]\n36", 1, "not a header"),
        ("[Start \"6x4\"]\n[Start \"6x4\"]", 2, "given twice"),
        ("[Event \"a\"]\n[Start \"six\"]", 2, "not a position"),
        ("[Event \"a\"]\n[Rules \"mine\"]", 2, "mine"),
        ("36 21\n\n26-22", 3, "the result is *, not 26-22"),
        ("[Result \"4294967296-1\"]\n36", 1, "not a result"),
        ("[Result \"26-22\"]\n36 21\n*", 1, "the result is *"),
        ("[Result \"many\"]\n36 21", 1, "not a result"),
        ("36 * 21", 1, "follows the result"),
        ("[Start \"1x1\"]\n\n1\n2-0", 4, "the result is 1-1, not 2-0"),
    ] {
        let error = read_game(text).expect_err(text);
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(error.to_string().contains(message), "{text:?}: {error}");
    }
    let error = read_game("36 21 4\n[Start \"6x4\"]\n36").unwrap_err();
    assert!(error.to_string().contains("there are 2 games"), "{error}");
}

#[test]
fn a_game_that_ended_for_another_reason_names_it() {
    let text = "[Start \"6x4\"]\n[Result \"48-0\"]\n[Termination \"North forfeits: no answer\"]\n\n36 21";
    let game = read_game(text).unwrap();
    assert_eq!((game.result, game.header("Termination")), (Some([48, 0]), Some("North forfeits: no answer")));
    assert_eq!(read_game(&game.to_string()).unwrap(), game);
}

#[test]
fn the_example_of_the_page_is_a_game() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/games.md")).unwrap();
    let example = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let game = read_game(example).unwrap();
    assert_eq!(game.line.to_string(), "53 6 42 564 6 1 5 2 6");
    assert_eq!((game.result, game.header("South")), (Some([10, 14]), Some("greedy")));
}
