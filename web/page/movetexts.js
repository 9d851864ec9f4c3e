// Texts of the list of moves and its variations.

/** English and German. @satisfies {Record<string, Wordings>} */
export const MOVES = {
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
  promoteTitle: [
    "Put this variation before the line that it leaves",
    "Diese Variante vor die Linie stellen, die sie verlässt",
  ],
  makeMain: ["Make main line", "Zur Hauptvariante machen"],
  makeMainTitle: [
    "Make the shown line the main line of the game",
    "Die gezeigte Linie zur Hauptvariante des Spiels machen",
  ],
  remove: ["Delete from here", "Ab hier löschen"],
  removeTitle: ["Delete the shown move and all that follow it", "Den gezeigten Zug und alle folgenden löschen"],
  restore: ["Undo deletion", "Löschen rückgängig"],
  restoreTitle: ["Put the deleted moves back", "Die gelöschten Züge zurückholen"],
  "arranged.promote": ["The variation was promoted.", "Die Variante wurde aufgewertet."],
  "arranged.makeMain": ["The shown line is the main line.", "Die gezeigte Linie ist die Hauptvariante."],
  "arranged.remove": ["The moves were deleted.", "Die Züge wurden gelöscht."],
  "arranged.restore": ["The deleted moves are back.", "Die gelöschten Züge sind wieder da."],
  exchangeShown: ["sides swapped", "Seiten getauscht"],
};
