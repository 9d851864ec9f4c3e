// Texts of values, searches, the explorer and the report.

/** English and German. @satisfies {Record<string, Wordings>} */
export const ANALYSIS = {
  win: ["win", "Sieg"],
  draw: ["draw", "Remis"],
  loss: ["loss", "Verlust"],
  winBy: ["{side} wins by {n}, exact", "{side} gewinnt mit {n}, exakt"],
  drawExact: ["a draw, exact", "Remis, exakt"],
  winAtLeast: ["{side} wins by at least {n}, proved", "{side} gewinnt mit mindestens {n}, bewiesen"],
  estimated: ["estimate {value} for {side}", "geschätzt {value} für {side}"],
  estimatedBetween: [
    "estimate {value} for {side}, proved between {lower} and {upper}",
    "geschätzt {value} für {side}, bewiesen zwischen {lower} und {upper}",
  ],
  estimateShort: ["est.", "gesch."],
  open: ["open", "offen"],
  between: [
    "between {lower} and {upper} for {side}, proved",
    "zwischen {lower} und {upper} für {side}, bewiesen",
  ],
  unknown: ["unknown", "unbekannt"],
  "from.tables": ["from the tables", "aus den Tabellen"],
  "from.book": ["from the book", "aus dem Buch"],
  "from.solver": ["proved by the solver", "vom Löser bewiesen"],
  "from.bound": ["proved so far", "bisher bewiesen"],
  "from.depth": ["from a search of depth {n}", "aus einer Suche der Tiefe {n}"],
  "from.rules": ["by the rules", "nach den Regeln"],
  searching: ["Searching … {known}", "Suche läuft … {known}"],
  searchedFor: ["{known} ({nodes} positions, depth {depth})", "{known} ({nodes} Stellungen, Tiefe {depth})"],
  explorerHidden: ["Turn the values on to see the book's moves.", "Mit Werten stehen hier die Züge des Buchs."],
  explorerNone: ["The book does not have this position.", "Die Stellung steht nicht im Buch."],
  hint: ["Hint", "Tipp"],
  hintTitle: ["Mark the best moves (H)", "Beste Züge zeigen (H)"],
  report: ["Report", "Auswertung"],
  values: ["Values", "Werte"],
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
  valuesFor: ["Values for {side}", "Werte für {side}"],
  barLabel: ["Value: {value}", "Wert: {value}"],
  graphLabel: [
    {
      one: "Value after each move; {n} move lost something. Arrow keys move through the game.",
      other: "Value after each move; {n} moves lost something. Arrow keys move through the game.",
    },
    {
      one: "Wert nach jedem Zug; {n} Zug hat etwas verloren. Die Pfeiltasten führen durch das Spiel.",
      other: "Wert nach jedem Zug; {n} Züge haben etwas verloren. Die Pfeiltasten führen durch das Spiel.",
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
  explorerBook: [
    "From the book, {n} in play: proved values of openings. Choose a pit to sow it.",
    "Aus dem Buch, {n} im Spiel: bewiesene Werte von Eröffnungen. Wähle eine Mulde, um sie zu säen.",
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
  reportTurns: ["Turns with a choice", "Züge mit Auswahl"],
  reportBest: ["Best turns", "Beste Züge"],
  reportInaccuracies: ["Inaccuracies (?!)", "Ungenau (?!)"],
  reportMistakes: ["Mistakes (?)", "Fehler (?)"],
  reportBlunders: ["Blunders (??)", "Grobe Fehler (??)"],
  reportOpen: ["Not evaluated", "Nicht bewertet"],
  reportLost: ["Seeds lost", "Verlorene Steine"],
  reportAccuracy: ["Accuracy", "Genauigkeit"],
  reportNote: [
    "A turn is all moves of a side until the other side moves. An inaccuracy loses up to 3 seeds, a mistake more; a " +
      "blunder turns a win into a draw or loss, or a draw into a loss. Accuracy is the share of best turns.",
    "Ein Zug sind alle Züge einer Seite, bis die andere dran ist. Ungenau heißt bis zu 3 verlorene Steine, ein " +
      "Fehler mehr; ein grober Fehler macht aus Sieg Remis oder Verlust, aus Remis Verlust. Genauigkeit: Anteil " +
      "bester Züge.",
  ],
  mistakes: ["Learn from your mistakes", "Aus Fehlern lernen"],
  nextMistake: ["Next mistake (M)", "Nächster Fehler (M)"],
  mistakeFind: ["{move} {why}. Find a better move.", "{move} {why}. Finde einen besseren Zug."],
  mistakeRight: ["Right, this loses nothing.", "Richtig, das verliert nichts."],
  reportNone: ["No turn is proved to have lost anything.", "Kein Zug hat nachweislich etwas verloren."],
};
