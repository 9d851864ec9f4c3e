// Texts of a first visit, the lesson and the rules.

/** English and German. @satisfies {Record<string, Wordings>} */
export const LESSONS = {
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
