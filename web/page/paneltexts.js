// All other texts: values and searches, the panel, the menu and its dialogs, the server and errors.

/** English and German. @satisfies {Record<string, Wordings>} */
export const PANEL = {
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
  mistakeWrong: ["Wrong: this {why}.", "Falsch: Das {why}."],
  mistakeRight: ["Right, this loses nothing.", "Richtig, das verliert nichts."],
  reportNone: ["No turn is proved to have lost anything.", "Kein Zug hat nachweislich etwas verloren."],
  movesTitle: ["Moves", "Züge"],
  movesNote: [
    "Choose a move to go there. Sow another pit there to start a variation; nothing is lost.",
    "Wähle einen Zug, um dorthin zu gehen. Säe dort eine andere Mulde, um eine Variante zu beginnen; nichts geht " +
      "verloren.",
  ],
  movesNone: ["None yet.", "Noch keine."],
  comment: ["Comment on this position", "Kommentar zu dieser Stellung"],
  moveLostAtLeast: [
    { one: "lost at least {n} seed", other: "lost at least {n} seeds" },
    { one: "hat mindestens {n} Stein verloren", other: "hat mindestens {n} Steine verloren" },
  ],
  moveLost: [
    { one: "lost {n} seed", other: "lost {n} seeds" },
    { one: "hat {n} Stein verloren", other: "hat {n} Steine verloren" },
  ],
  lineTools: ["Variations", "Varianten"],
  promote: ["Promote", "Aufwerten"],
  remove: ["Delete from here", "Ab hier löschen"],
  restore: ["Undo deletion", "Löschen rückgängig"],
  "arranged.promote": ["The variation was promoted.", "Die Variante wurde aufgewertet."],
  "arranged.remove": ["The moves were deleted.", "Die Züge wurden gelöscht."],
  "arranged.restore": ["The deleted moves are back.", "Die gelöschten Züge sind wieder da."],
  exchangeShown: ["sides swapped", "Seiten getauscht"],
  analyse: ["Analyse", "Analyse"],
  learn: ["Learn", "Lernen"],
  mainNav: ["Main", "Hauptmenü"],
  menu: ["Menu and settings", "Menü und Einstellungen"],
  panel: ["Moves and analysis", "Züge und Analyse"],
  keys: ["Single keys (digits sow; U, R, H, F)", "Einzelne Tasten (Ziffern säen; U, R, H, F)"],
  setUp: ["Set up", "Aufstellen"],
  gameText: ["Game text", "Spiel als Text"],
  share: ["Copy link", "Link kopieren"],
  copied: ["Copied", "Kopiert"],
  copyYourself: ["Please copy this yourself:", "Bitte selbst kopieren:"],
  sounds: ["Sounds", "Töne"],
  languageLabel: ["Language", "Sprache"],
  gameTools: ["Game", "Spiel"],
  turnBoard: ["Turn the board (F)", "Brett drehen (F)"],
  keysHow: ["Press ? for the keys.", "Mit ? werden die Tasten gezeigt."],
  keysTitle: ["Keys", "Tasten"],
  keysList: [
    "Number keys sow a pit. Arrow keys, Home and End move through the game, or along the row from a pit that the Tab " +
      "key reached. U goes one move back, R one forward, H marks the best moves, F turns the " +
      "board, M asks for a better move at the next mistake.",
    "Zifferntasten säen eine Mulde. Pfeiltasten, Pos1 und Ende führen durch das Spiel, oder durch die Reihe, wenn " +
      "die Tabulatortaste eine Mulde erreicht hat. U geht einen Zug zurück, R einen vor, H zeigt die besten Züge, " +
      "F dreht das Brett, M fragt beim nächsten Fehler nach einem besseren Zug.",
  ],
  footValues: [
    "A value is the difference of the stores at the end with best play, for the player at the bottom of the board. " +
      "Values are exact unless they follow ≥ or ≤ (a proved bound) or ≈ (an estimate).",
    "Ein Wert ist der Unterschied der Speicher am Ende bei bestem Spiel, für den Spieler unten am Brett. Werte sind " +
      "exakt, außer wenn ≥ oder ≤ (eine bewiesene Schranke) oder ≈ (eine Schätzung) davor steht.",
  ],
  cancel: ["Cancel", "Abbrechen"],
  close: ["Close", "Schließen"],
  use: ["Use it", "Verwenden"],
  setUpTitle: ["Set up a position", "Stellung aufbauen"],
  toMoveLabel: ["To move", "Am Zug"],
  asText: [
    "As text: 6x4, or 4,4,4/4,4,4, or <m,S,N,…> with the mover first",
    "Als Text: 6x4, oder 4,4,4/4,4,4, oder <m,S,N,…>, die ziehende Seite zuerst",
  ],
  clear: ["Clear", "Leeren"],
  fieldStore: ["{side}'s store", "Speicher von {side}"],
  textTitle: ["The game as text", "Das Spiel als Text"],
  textNote: [
    "Copy or download this text to keep the game, or paste another game and load it.",
    "Kopiere oder speichere diesen Text, um das Spiel zu behalten, oder füge ein anderes Spiel ein und lade es.",
  ],
  load: ["Load", "Laden"],
  download: ["Download", "Speichern"],
  offline: [
    "The server does not answer. The game is kept, and continues when the server is back.",
    "Der Server antwortet nicht. Das Spiel bleibt erhalten und geht weiter, sobald er wieder da ist.",
  ],
  busy: [
    "The server is busy with other searches. Waiting …",
    "Der Server ist mit anderen Suchen beschäftigt. Bitte warten …",
  ],
  reconnected: ["The server is back.", "Der Server ist wieder da."],
  loading: ["Loading the engine, {done} MB", "Der Rechner lädt, {done} MB"],
  loadingOf: ["Loading the engine, {done} of {all} MB", "Der Rechner lädt, {done} von {all} MB"],
  tableLost: ["a table could not be read", "eine Tabelle war nicht lesbar"],
  retry: ["Try now", "Jetzt versuchen"],
  unknownPlayer: [
    "The link names the player '{player}', which this server does not have. A person plays instead.",
    "Der Link nennt den Spieler '{player}', den dieser Server nicht hat. Stattdessen spielt ein Mensch.",
  ],
  badMoves: [
    "The moves in the link cannot be played: {reason}",
    "Die Züge im Link können nicht gespielt werden: {reason}",
  ],
  engineHere: ["{about} The engine runs here, in your browser.", "{about} Gerechnet wird hier, in deinem Browser."],
  engineServer: ["{about} The engine runs on the server.", "{about} Gerechnet wird auf dem Server."],
  tooMany: [
    "The board would have {n} seeds; at most {most} are possible.",
    "Das Brett hätte {n} Steine; höchstens {most} sind möglich.",
  ],
  badText: [
    "Write PITSxSEEDS such as 6x4, s1,..,sm/n1,..,nm, or <m,S,N,s1,..,sm,n1,..,nm>.",
    "Bitte MULDENxSTEINE wie 6x4, s1,..,sm/n1,..,nm oder <m,S,N,s1,..,sm,n1,..,nm> schreiben.",
  ],
};
