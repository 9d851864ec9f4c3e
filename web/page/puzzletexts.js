// Texts of puzzles and their calendar.

/** English and German. @satisfies {Record<string, Wordings>} */
export const PUZZLES = {
  puzzle: ["Puzzle", "Aufgabe"],
  puzzleTitle: ["Find the only move", "Finde den einzigen Zug"],
  puzzleNote: [
    "A position from a game in which only one move keeps the win or the draw. Everybody gets the same puzzle of " +
      "the day.",
    "Eine Stellung aus einem Spiel, in der nur ein Zug den Sieg oder das Remis hält. Die Aufgabe des Tages ist " +
      "für alle dieselbe.",
  ],
  puzzleLevel: ["Difficulty", "Schwierigkeit"],
  puzzleToday: ["Puzzle of the day", "Aufgabe des Tages"],
  puzzleOther: ["Another one", "Eine andere"],
  puzzleResult: ["Kalah {day}, {level}: {sign} {result}.", "Kalah {day}, {level}: {sign} {result}."],
  shareResult: ["Share the result", "Ergebnis teilen"],
  welcomePuzzle: ["Find the only move", "Finde den einzigen Zug"],
  puzzleRow: ["Solved in a row: {n}.", "In Folge gelöst: {n}."],
  puzzleDays: ["Days in a row: {n}.", "Tage in Folge: {n}."],
  "puzzle.easy": ["easy", "leicht"],
  "puzzle.medium": ["medium", "mittel"],
  "puzzle.hard": ["hard", "schwer"],
  "puzzle.win": [
    "Puzzle ({level}): {side} to move. Only one move wins.",
    "Aufgabe ({level}): {side} ist am Zug. Nur ein Zug gewinnt.",
  ],
  "puzzle.draw": [
    "Puzzle ({level}): {side} to move. Only one move keeps the draw; all others lose.",
    "Aufgabe ({level}): {side} ist am Zug. Nur ein Zug hält das Remis, alle anderen verlieren.",
  ],
  puzzleNext: ["Next puzzle", "Nächste Aufgabe"],
  puzzleRight: [
    "Right. Best play: {line}. Solved in a row: {n}.",
    "Richtig. Bestes Spiel: {line}. In Folge gelöst: {n}.",
  ],
  puzzleWrong: ["Wrong move.", "Falscher Zug."],
  puzzleRefuted: ["{reply} refutes it: {value}.", "{reply} widerlegt ihn: {value}."],
  puzzleAgain: ["Try again", "Noch ein Versuch"],
  puzzleGoOn: [
    "Right. Go on: every move that keeps the result is right.",
    "Richtig. Weiter: Jeder Zug, der das Ergebnis hält, ist richtig.",
  ],
  puzzleHelped: ["With help the puzzle does not count.", "Mit Hilfe zählt die Aufgabe nicht."],
  calendar: ["Puzzles of past days", "Aufgaben vergangener Tage"],
  calendarSigns: [
    "{first} solved, {later} solved later, {missed} missed. Choose a day to play its puzzle.",
    "{first} gelöst, {later} später gelöst, {missed} verfehlt. Wähle einen Tag für seine Aufgabe.",
  ],
  "calendar.first": ["solved", "gelöst"],
  "calendar.later": ["solved later", "später gelöst"],
  "calendar.missed": ["missed", "verfehlt"],
};
