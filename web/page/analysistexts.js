// Texts of values, searches, the explorer and the report.

/** English and German. @satisfies {Record<string, Wordings>} */
export const ANALYSIS = {
  win: ["win", "Sieg"],
  draw: ["draw", "Remis"],
  loss: ["loss", "Verlust"],
  winBy: ["win by {n}, exact", "Sieg mit {n}, exakt"],
  drawBy: ["draw, exact", "Remis, exakt"],
  lossBy: ["loss by {n}, exact", "Verlust mit {n}, exakt"],
  winAtLeast: ["win by at least {n}, proved", "Sieg mit mindestens {n}, bewiesen"],
  lossAtLeast: ["loss by at least {n}, proved", "Verlust mit mindestens {n}, bewiesen"],
  estimated: ["estimate {value}", "geschätzt {value}"],
  estimatedBetween: [
    "estimate {value}, proved between {lower} and {upper}",
    "geschätzt {value}, bewiesen zwischen {lower} und {upper}",
  ],
  estimateShort: ["est.", "gesch."],
  open: ["open", "offen"],
  between: ["between {lower} and {upper}, proved", "zwischen {lower} und {upper}, bewiesen"],
  unknown: ["unknown", "unbekannt"],
  "from.tables": ["from the tables", "aus den Tabellen"],
  "from.book": ["from the book", "aus dem Buch"],
  "from.solver": ["proved by the solver", "vom Löser bewiesen"],
  "from.bound": ["proved so far", "bisher bewiesen"],
  "from.depth": ["from a search of depth {n}", "aus einer Suche der Tiefe {n}"],
  "from.rules": ["by the rules", "nach den Regeln"],
  searching: ["Searching … {known}", "Suche läuft … {known}"],
  searchedFor: ["{known} ({nodes} positions, depth {depth})", "{known} ({nodes} Stellungen, Tiefe {depth})"],
  explorerNone: [
    "With values on, this shows the book's moves and your own games from here.",
    "Bei gezeigten Werten stehen hier die Züge des Buchs und deine eigenen Spiele von hier.",
  ],
  hint: ["Hint", "Tipp"],
  hintTitle: ["Mark the best moves (H)", "Beste Züge zeigen (H)"],
  report: ["Report", "Auswertung"],
  values: ["Values", "Werte"],
  labels: ["Labels of moves", "Beschriftung der Züge"],
  "labels.value": ["final difference", "Enddifferenz"],
  "labels.loss": ["seeds lost", "verlorene Steine"],
  labelsNote: [
    "Labels of moves show their values or their losses. A value is the difference of the stores at the end with best " +
      "play. A loss is how much worse a move is than the best one: 0 is best, −4 costs 4 seeds of that difference.",
    "An den Zügen steht ihr Wert oder ihr Verlust. Ein Wert ist der Unterschied der Speicher am Ende bei bestem " +
      "Spiel. Ein Verlust ist der Abstand zum besten Zug: 0 ist der beste, −4 kostet 4 Steine dieses Unterschieds.",
  ],
  loses: [
    { one: "loses {n} seed", other: "loses {n} seeds" },
    { one: "verliert {n} Stein", other: "verliert {n} Steine" },
  ],
  losesAtLeast: [
    { one: "loses at least {n} seed", other: "loses at least {n} seeds" },
    { one: "verliert mindestens {n} Stein", other: "verliert mindestens {n} Steine" },
  ],
  losesAtMost: [
    { one: "loses at most {n} seed", other: "loses at most {n} seeds" },
    { one: "verliert höchstens {n} Stein", other: "verliert höchstens {n} Steine" },
  ],
  losesAbout: [
    { one: "loses about {n} seed", other: "loses about {n} seeds" },
    { one: "verliert etwa {n} Stein", other: "verliert etwa {n} Steine" },
  ],
  losesNothing: ["loses nothing", "verliert nichts"],
  valuesTitle: ["Show the value of every move", "Den Wert jedes Zugs zeigen"],
  analysis: ["Analysis", "Analyse"],
  bestPlay: ["Best play", "Bestes Spiel"],
  bestPlayHow: ["How to read it", "So liest man das"],
  bestPlayNote: [
    "Each group is a turn: the pits that one side sows, one after the other. '36 2' means: one side sows pit 3, " +
      "whose last seed falls into the store, and then pit 6; the other side sows pit 2. Choose a number to play up " +
      "to that move; your own moves are kept as a variation.",
    "Jede Gruppe ist ein Zug einer Seite: die Mulden, die sie nacheinander sät. '36 2' heißt: Eine Seite sät " +
      "Mulde 3, deren letzter Stein in den Speicher fällt, und dann Mulde 6; die andere Seite sät Mulde 2. Wähle " +
      "eine Zahl, um bis zu diesem Zug zu spielen; deine eigenen Züge bleiben als Variante erhalten.",
  ],
  noLine: ["No line of play is proved.", "Kein Spielverlauf ist bewiesen."],
  valueSouth: ["Value for South", "Wert für Süd"],
  barLabel: ["Value for South: {value}", "Wert für Süd: {value}"],
  graphLabel: [
    {
      one: "Value for South after each move; {n} move lost something. Arrow keys move through the game.",
      other: "Value for South after each move; {n} moves lost something. Arrow keys move through the game.",
    },
    {
      one: "Wert für Süd nach jedem Zug; {n} Zug hat etwas verloren. Die Pfeiltasten führen durch das Spiel.",
      other: "Wert für Süd nach jedem Zug; {n} Züge haben etwas verloren. Die Pfeiltasten führen durch das Spiel.",
    },
  ],
  graphAfter: ["after {n}: {value}", "nach {n}: {value}"],
  graphLostAtLeast: [
    "{side} lost at least {n} with the last move",
    "{side} hat durch den letzten Zug mindestens {n} verloren",
  ],
  graphLost: ["{side} lost {n} with the last move", "{side} hat durch den letzten Zug {n} verloren"],
  longer: ["Analyse longer", "Länger analysieren"],
  explorer: ["Explorer", "Eröffnungen"],
  explorerMove: ["Pit", "Mulde"],
  explorerValue: ["Value", "Wert"],
  explorerLoss: ["Loss", "Verlust"],
  explorerGames: ["Your games", "Deine Spiele"],
  explorerGamesTitle: [
    "Games finished in this browser: won, drawn and lost for the side that moved",
    "In diesem Browser beendete Spiele: Siege, Remis und Verluste der Seite am Zug",
  ],
  explorerCounts: ["{won} won, {drawn} drawn, {lost} lost", "{won} gewonnen, {drawn} remis, {lost} verloren"],
  explorerBook: [
    "From the book, {n} in play: proved values of openings. Choose a pit to sow it.",
    "Aus dem Buch, {n} im Spiel: bewiesene Werte von Eröffnungen. Wähle eine Mulde, um sie zu säen.",
  ],
  explorerPlayed: [
    "The book does not have this position; these moves were played in this browser.",
    "Die Stellung steht nicht im Buch; diese Züge wurden in diesem Browser gespielt.",
  ],
  hintProved: ["Proved best.", "Bewiesen am besten."],
  hintOpen: [
    "Probably best; no proof was found in time.",
    "Wahrscheinlich am besten; in der Zeit wurde kein Beweis gefunden.",
  ],
  hintProbable: [
    "Probably best; the search for a proof goes on.",
    "Wahrscheinlich am besten; die Suche nach einem Beweis läuft weiter.",
  ],
  reportTitle: ["Report of the game", "Auswertung des Spiels"],
  reportWorking: ["{n} of {all} positions proved …", "{n} von {all} Stellungen bewiesen …"],
  reportMoves: ["Moves with a choice", "Züge mit Auswahl"],
  reportExact: ["Best moves", "Beste Züge"],
  reportSlips: ["Inaccuracies", "Ungenau"],
  reportBlunders: ["Blunders", "Grobe Fehler"],
  reportOpen: ["Not evaluated", "Nicht bewertet"],
  reportLost: ["Seeds lost a move", "Verlorene Steine je Zug"],
  reportAccuracy: ["Accuracy", "Genauigkeit"],
  reportNote: [
    "An inaccuracy loses seeds, a blunder turns a win into a draw or loss, or a draw into a loss. Accuracy is " +
      "the share of exact moves among those with proved values.",
    "Ein ungenauer Zug verliert Steine, ein grober Fehler macht aus einem Sieg ein Remis oder einen Verlust oder " +
      "aus einem Remis einen Verlust. Die Genauigkeit ist der Anteil der exakten Züge an den Zügen mit bewiesenem " +
      "Wert.",
  ],
  reportNone: ["No move is proved to have lost anything.", "Kein Zug hat nachweislich etwas verloren."],
};
