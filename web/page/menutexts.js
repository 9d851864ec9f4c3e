// Texts of the menu, settings and dialogs.

/** English and German. @satisfies {Record<string, Wordings>} */
export const MENU = {
  analyse: ["Analyse", "Analyse"],
  analyseTitle: ["Show the value of every move", "Den Wert jedes Zugs zeigen"],
  learn: ["Learn", "Lernen"],
  mainNav: ["Main", "Hauptmenü"],
  menu: ["Menu and settings", "Menü und Einstellungen"],
  panel: ["Moves and analysis", "Züge und Analyse"],
  mute: ["Mute", "Stumm"],
  keys: ["Single keys (digits sow; U, R, H, F)", "Einzelne Tasten (Ziffern säen; U, R, H, F)"],
  setUp: ["Set up", "Aufstellen"],
  gameText: ["Game text", "Spiel als Text"],
  share: ["Copy link", "Link kopieren"],
  copied: ["Copied", "Kopiert"],
  copyYourself: ["Copy the link from the address bar", "Bitte den Link aus der Adresszeile kopieren"],
  speed: ["Show moves", "Züge zeigen"],
  "speed.slow": ["slowly", "langsam"],
  "speed.normal": ["at normal speed", "normal"],
  "speed.instant": ["at once", "sofort"],
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
  random: ["Random", "Zufällig"],
  fieldPit: ["{side} pit {pit}", "{side}, Mulde {pit}"],
  fieldStore: ["{side}'s store", "Speicher von {side}"],
  textTitle: ["The game as text", "Das Spiel als Text"],
  textNote: [
    "Copy or download this text to keep the game, or paste another game and load it.",
    "Kopiere oder speichere diesen Text, um das Spiel zu behalten, oder füge ein anderes Spiel ein und lade es.",
  ],
  load: ["Load", "Laden"],
  download: ["Download", "Speichern"],
};
