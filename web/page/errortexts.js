// Texts of the server, and of what went wrong.

/** English and German. @satisfies {Record<string, Wordings>} */
export const ERRORS = {
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
