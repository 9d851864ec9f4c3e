// Faces of players: people, and programs by their strength.

import { shape } from "./elements.js";

/**
 * Colours, eyes, mouth and what is above them. Eyes and mouths differ, so that nobody has to see colours.
 * @type {Record<string, { skin: string, edge: string, eyes: string, mouth: string, top?: string }>}
 */
const FACES = {
  south: { skin: "#f2b880", edge: "#8a4f1d", eyes: "M14 19v2M26 19v2", mouth: "M14 26q6 5 12 0" },
  north: { skin: "#9fc4e6", edge: "#27507a", eyes: "M14 19v2M26 19v2", mouth: "M14 26q6 5 12 0" },
  first: { skin: "#ffe08a", edge: "#8a6200", eyes: "M13 20q1.5-3 3 0M24 20q1.5-3 3 0", mouth: "M17 26h6l-3 4z" },
  second: { skin: "#bfe3a8", edge: "#3d6b22", eyes: "M14 19v2M26 19v2", mouth: "M13 25h14q-7 9-14 0z" },
  third: {
    skin: "#ffc39a",
    edge: "#9a4a12",
    eyes: "M14 19v2M26 19v2",
    mouth: "M15 27h10",
    top: "M8 14L7 5l8 4M32 14l1-9-8 4",
  },
  fourth: { skin: "#d7c4f0", edge: "#52358a", eyes: "M11 17l6 2M29 17l-6 2M15 21v1M25 21v1", mouth: "M14 28q6-3 12 0" },
  fifth: {
    skin: "#cfd6dc",
    edge: "#3a4650",
    eyes: "M12 18h5v4h-5zM23 18h5v4h-5z",
    mouth: "M14 28h12M18 26v4M22 26v4",
    top: "M20 6V2M17 2h6",
  },
};

/** Depths up to which a program has each face. */
const DEPTHS = { first: 1, second: 2, third: 5, fourth: 8 };

/** Returns the name of the face of a player on a side. @param {string} player @param {Side} side */
function faceOf(player, side) {
  if (player === "human") return side;
  const known = { random: 1, greedy: 2, heuristic: 2 }[player];
  const depth = known ?? Number(player.split(":")[1] ?? Number.POSITIVE_INFINITY);
  return Object.entries(DEPTHS).find(([, most]) => depth <= most)?.[0] ?? "fifth";
}

/** Shows the face of a player in an element. @param {HTMLElement} element @param {string} player @param {Side} side */
export function showFace(element, player, side) {
  const kind = faceOf(player, side);
  if (element.dataset.face === kind) return;
  element.dataset.face = kind;
  const { skin, edge, eyes, mouth, top = "" } = FACES[kind];
  // A program of many moves is a machine.
  const isMachine = kind === "fifth";
  const parts = [
    shape("path", { d: top, fill: skin }),
    isMachine
      ? shape("rect", { x: 5, y: 7, width: 30, height: 29, rx: 8, fill: skin })
      : shape("circle", { cx: 20, cy: 22, r: 15.5, fill: skin }),
    shape("path", { d: eyes }),
    shape("path", { d: mouth, fill: mouth.endsWith("z") ? edge : "none" }),
  ];
  const svg = shape("svg", { viewBox: "0 0 40 40", "aria-hidden": "true" }, ...parts);
  // Not as an attribute, which the policy of a static site forbids.
  svg.style.color = edge;
  element.replaceChildren(svg);
}
