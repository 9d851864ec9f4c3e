// Texts of the board, its moves in words, and the end of a game.

/** English and German. @satisfies {Record<string, Wordings>} */
export const BOARD = {
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
};
