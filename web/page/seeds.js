// Drawings of seeds in a pit or store.

const SVG = "http://www.w3.org/2000/svg";
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Returns an element for drawings, which screen readers skip. @param {Element} parent */
export function drawing(parent) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  parent.append(svg);
  return svg;
}

/**
 * Draws `count` seeds, at most `most`, in the pattern of a sunflower, in a drawing of this width and height.
 * @param {SVGSVGElement} svg
 * @param {number} count
 * @param {number} most
 * @param {readonly [width: number, height: number]} size
 */
export function drawSeeds(svg, count, most, [width, height]) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const shown = Math.min(count, most);
  while (svg.childElementCount > shown) svg.lastChild?.remove();
  while (svg.childElementCount < shown) {
    const seed = document.createElementNS(SVG, "circle");
    seed.setAttribute("class", `seed seed-${svg.childElementCount % 4}`);
    svg.append(seed);
  }
  const radius = Math.min(11, (40 / Math.sqrt(Math.max(shown, 1))) * Math.sqrt((width * height) / 10000));
  const places = Math.max(shown, 5);
  [...svg.children].forEach((seed, index) => {
    const from = shown === 1 ? 0 : Math.sqrt((index + 0.5) / places);
    seed.setAttribute("cx", String(width / 2 + (width * 0.46 - radius) * from * Math.cos(index * GOLDEN)));
    seed.setAttribute("cy", String(height / 2 + (height * 0.46 - radius) * from * Math.sin(index * GOLDEN)));
    seed.setAttribute("r", String(radius));
  });
}
