// Texts of games, the lesson and puzzles: the board, the players, the rules.

/** English and German. @satisfies {Record<string, Wordings>} */
export const GAMES = {
  south: ["South", "Süd"],
  north: ["North", "Nord"],
  seeds: [{ one: "{n} seed", other: "{n} seeds" }, { one: "{n} Stein", other: "{n} Steine" }],
  storeOf: ["{side}'s store: {seeds}", "Speicher von {side}: {seeds}"],
  pitOf: ["{side} pit {pit}, {seeds}", "{side}, Mulde {pit}, {seeds}"],
  best: ["best", "am besten"],
  "mark.from": ["sown last", "zuletzt gesät"],
  "mark.last": ["the last seed fell here", "hier fiel der letzte Stein"],
  "mark.relay": ["sown on from here", "von hier weitergesät"],
  "mark.captured": ["captured", "geschlagen"],
  sows: [
    { one: "{side} sows pit {pit}: {n} seed.", other: "{side} sows pit {pit}: {n} seeds." },
    { one: "{side} sät Mulde {pit}: {n} Stein.", other: "{side} sät Mulde {pit}: {n} Steine." },
  ],
  relays: [
    { one: "It sows on once.", other: "It sows on {n} times." },
    { one: "Es wird einmal weitergesät.", other: "Es wird {n}-mal weitergesät." },
  ],
  captures: [
    { one: "{side} captures {n} seed.", other: "{side} captures {n} seeds." },
    { one: "{side} schlägt {n} Stein.", other: "{side} schlägt {n} Steine." },
  ],
  again: [
    "The last seed fell into the store: {side} moves again.",
    "Der letzte Stein fiel in den Speicher: {side} zieht noch einmal.",
  ],
  whyEnds: ["{side} ends the game", "{side} beendet das Spiel"],
  whyCaptures: [
    { one: "{side} captures {n} seed with pit {pit}", other: "{side} captures {n} seeds with pit {pit}" },
    { one: "{side} schlägt {n} Stein mit Mulde {pit}", other: "{side} schlägt {n} Steine mit Mulde {pit}" },
  ],
  whyAgain: ["{side} moves again", "{side} zieht noch einmal"],
  lastMove: ["Last move: {text}", "Letzter Zug: {text}"],
  drawn: ["The game is over: a draw, {most} to {least}.", "Das Spiel ist aus: Remis, {most} zu {least}."],
  won: [
    "The game is over: {side} wins, {most} to {least}.",
    "Das Spiel ist aus: {side} gewinnt, {most} zu {least}.",
  ],
  toMove: ["{side} to move", "{side} ist am Zug"],
  yourTurn: ["Your turn ({side})", "Du bist am Zug ({side})"],
  toMoveValue: ["{mover}: {value} ({origin}).", "{mover}: {value} ({origin})."],
  firstMove: [
    "Choose one of your pits, those with a light ring. “Learn” explains the game.",
    "Wähle eine deiner Mulden, sie haben einen hellen Ring. „Lernen“ erklärt das Spiel.",
  ],
  about: [
    { one: "{rules}. {n} pit a side.", other: "{rules}. {n} pits a side." },
    { one: "{rules}. {n} Mulde je Seite.", other: "{rules}. {n} Mulden je Seite." },
  ],
  turn: ["to move", "am Zug"],
  turnYours: ["your turn", "du bist am Zug"],
  turnThinking: ["thinking …", "denkt nach …"],
  scoreTitle: ["Seeds in the store", "Steine im Speicher"],
  moveAgain: ["Move again!", "Noch ein Zug!"],
  pitEmpty: ["Empty", "Leer"],
  boardLabel: ["Board", "Brett"],
  moveLabel: ["{side} pit {pit}", "{side}, Mulde {pit}"],
  typed: ["Pit {digits}…", "Mulde {digits}…"],
  thinking: ["{side} is thinking …", "{side} denkt nach …"],
  pause: ["Pause", "Anhalten"],
  resume: ["Continue", "Weiter"],
  go: ["Let {side} move", "{side} ziehen lassen"],
  undo: ["Back", "Zurück"],
  undoTitle: ["One move back (U)", "Einen Zug zurück (U)"],
  redo: ["Forward", "Vor"],
  redoTitle: ["One move forward (R)", "Einen Zug vor (R)"],
  play: ["Play", "Spielen"],
  firstTitle: ["To the start (Home)", "Zum Anfang (Pos1)"],
  finalTitle: ["To the last move (End)", "Zum letzten Zug (Ende)"],
  rematch: ["Rematch", "Revanche"],
  review: ["Review", "Auswerten"],
  endWon: ["You win!", "Du gewinnst!"],
  endLost: ["You lose", "Du verlierst"],
  endDraw: ["A draw", "Remis"],
  endWins: ["{side} wins", "{side} gewinnt"],
  vsComputer: ["Against the computer", "Gegen den Computer"],
  vsPerson: ["Two people, one screen", "Zwei Menschen, ein Bildschirm"],
  moreOptions: ["More options", "Weitere Einstellungen"],
  newGame: ["New game", "Neues Spiel"],
  playsSouth: ["Player of South", "Spieler für Süd"],
  playsNorth: ["Player of North", "Spieler für Nord"],
  levels: ["Levels", "Stufen"],
  programs: ["Other programs", "Andere Programme"],
  human: ["Person", "Mensch"],
  "level.alphabeta:1": ["Very easy (looks at one move)", "Sehr leicht (sieht einen Zug)"],
  "level.heuristic": ["Easy (captures and moves again if it can)", "Leicht (schlägt und zieht weiter, wenn es geht)"],
  "level.alphabeta:5": ["Medium (thinks 5 moves ahead)", "Mittel (denkt 5 Züge voraus)"],
  "level.alphabeta:8": ["Hard (thinks 8 moves ahead)", "Schwer (denkt 8 Züge voraus)"],
  "level.alphabeta:11": ["Very hard (thinks 11 moves ahead)", "Sehr schwer (denkt 11 Züge voraus)"],
  "level.perfect": [
    "Perfect (never errs where tables or proofs reach)",
    "Perfekt (ohne Fehler, soweit Tabellen oder Beweise reichen)",
  ],
  record: [
    "Against {level}: {won} won, {drawn} drawn, {lost} lost.",
    "Gegen {level}: {won} gewonnen, {drawn} remis, {lost} verloren.",
  ],
  nextLevel: ["Next: {level}", "Weiter: {level}"],
  start: ["Start", "Beginnen"],
  pitsASide: ["Pits a side", "Mulden je Seite"],
  seedsAPit: ["Seeds a pit", "Steine je Mulde"],
  begins: ["Moves first", "Zieht zuerst"],
  you: ["You play", "Du spielst"],
  "you.both": ["both sides", "beide Seiten"],
  "you.none": ["neither side: two programs play", "keine Seite: zwei Programme spielen"],
  opponent: ["Opponent", "Gegner"],
  time: ["Seconds to think", "Sekunden Bedenkzeit"],
  pie: [
    "Pie rule: after the first turn the other player may swap sides",
    "Tauschregel: Nach dem ersten Zug darf der andere Spieler die Seiten tauschen",
  ],
  swap: ["Swap sides", "Seiten tauschen"],
  swapped: ["The sides were swapped.", "Die Seiten wurden getauscht."],
  pieNow: [
    "Pie rule: {side} may now swap sides instead of moving.",
    "Tauschregel: {side} darf jetzt die Seiten tauschen, statt zu ziehen.",
  ],
  welcome: ["Welcome to Kalah", "Willkommen bei Kalah"],
  welcomePlay: [
    "Against the computer at five levels, or with a friend",
    "Gegen den Computer auf fünf Stufen oder zu zweit",
  ],
  welcomeLearn: ["Three moves in 20 seconds, on the board", "Drei Züge in 20 Sekunden, auf dem Brett"],
  welcomeAnalyse: ["The exact value of every move", "Der genaue Wert jedes Zugs"],
  lessonShow: ["Try it on the board", "Auf dem Brett probieren"],
  lessonNext: ["Next", "Weiter"],
  lessonEnd: ["Leave the lesson", "Lektion verlassen"],
  lessonPlay: ["Play now", "Jetzt spielen"],
  lessonWrong: [
    "That works too. Take it back and try the marked pit.",
    "Das geht auch. Nimm den Zug zurück und versuche die markierte Mulde.",
  ],
  lessonSow: [
    "The lower row and the store at its end are yours. Choose pit {pit}: its seeds go into the next pits, one " +
      "each.",
    "Die untere Reihe und der Speicher an ihrem Ende gehören dir. Wähle Mulde {pit}: Ihre Steine kommen einzeln " +
      "in die nächsten Mulden.",
  ],
  lessonSowDone: [
    "That is sowing. Then it is the other side's turn.",
    "Das ist Säen. Danach ist die andere Seite am Zug.",
  ],
  lessonStore: [
    "Your store takes seeds too. Choose pit {pit} and count: its last seed ends there.",
    "Auch dein Speicher bekommt Steine. Wähle Mulde {pit} und zähle: Der letzte Stein fällt hinein.",
  ],
  lessonStoreDone: [
    "The last seed fell into your store, so you move again!",
    "Der letzte Stein fiel in deinen Speicher, also ziehst du noch einmal!",
  ],
  lessonCapture: [
    "Pit {pit} has one seed, and the next pit is empty. Choose pit {pit}.",
    "Mulde {pit} hat einen Stein, und die nächste Mulde ist leer. Wähle Mulde {pit}.",
  ],
  lessonCaptureDone: [
    "A last seed in your own empty pit captures the seeds opposite.",
    "Ein letzter Stein in einer leeren eigenen Mulde schlägt die Steine gegenüber.",
  ],
  lessonGoal: ["Whoever has more seeds at the end wins.", "Wer am Ende mehr Steine hat, gewinnt."],
  rulesAgain: [
    "If the last seed falls into your store, you move again.",
    "Fällt der letzte Stein in den eigenen Speicher, zieht man noch einmal.",
  ],
  "ruleName.standard": ["Standard (most apps and boxes)", "Standard (die meisten Apps und Brettspiele)"],
  "ruleName.empty-capture": ["Empty capture (tournaments, research)", "Leer schlagen (Turniere, Forschung)"],
  "ruleName.s-kalaha": ["Avalanche (sow on, no captures)", "Lawine (weitersäen, kein Schlagen)"],
  "ruleName.single-move": ["Single move (never again)", "Einzelzug (nie noch einmal)"],
  rules: ["Rules", "Regeln"],
  rulesTitle: ["How to play", "So wird gespielt"],
  rulesGoal: [
    "Each side has a row of pits and a store at its end. Whoever has more seeds in the store at the end " +
      "wins.",
    "Jede Seite hat eine Reihe von Mulden und an deren Ende einen Speicher. Wer am Ende mehr Steine im " +
      "Speicher hat, gewinnt.",
  ],
  rulesSow: [
    "Take all seeds from one of your pits and drop them one by one, counter-clockwise: into your pits, your " +
      "store and the other side's pits, but never into their store.",
    "Nimm alle Steine aus einer deiner Mulden und verteile sie einzeln gegen den Uhrzeigersinn: auf deine " +
      "Mulden, deinen Speicher und die Mulden der anderen Seite, aber nie auf deren Speicher.",
  ],
  rulesEnd: [
    "The game is over when one side has no seeds left in its pits. The other side keeps the seeds in its own pits.",
    "Das Spiel ist aus, wenn eine Seite keine Steine mehr in ihren Mulden hat. Die andere Seite behält die " +
      "Steine in ihren Mulden.",
  ],
  lessonAgain: ["Again", "Noch einmal"],
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

/** Rule sets in other languages than English, in which the server describes them. */
export const RULE_SETS = {
  de: {
    standard:
      "Fällt er in eine leere eigene Mulde, wird er mit allen Steinen der Mulde gegenüber geschlagen; liegen " +
        "dort keine, bleibt er liegen.",
    "empty-capture":
      "Fällt er in eine leere eigene Mulde, wird er mit allen Steinen der Mulde gegenüber geschlagen, auch wenn " +
        "dort keine liegen.",
    "s-kalaha":
      "Es wird nicht geschlagen. Fällt der letzte Stein in eine Mulde mit Steinen, gleich auf welcher Seite, " +
        "werden alle aufgenommen und weitergesät; der Zug endet in einer leeren Mulde. Handyspiele nennen das " +
        "„Avalanche“.",
    "single-move":
      "Wie „Leer schlagen“, aber man zieht nie noch einmal: Auch ein letzter Stein im eigenen Speicher beendet " +
        "den Zug.",
  },
};
