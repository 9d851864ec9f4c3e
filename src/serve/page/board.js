// The board: two rows of pits, a store at each end, and seeds that move.

import { name, seeds, tell } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** More seeds than this are not drawn, only counted. */
const DRAWN = { pit: 24, store: 60 };

/** Milliseconds of one seed's way, and of a whole move at the most. */
const STEP = 130;
const MOVE = 2600;

const make = (tag, className, parent) => {
  const element = document.createElement(tag);
  element.className = className;
  parent?.append(element);
  return element;
};

/** Draws `count` seeds as a sunflower holds its own. */
function drawSeeds(svg, count, most, height) {
  const shown = Math.min(count, most);
  while (svg.childElementCount > shown) svg.lastChild.remove();
  while (svg.childElementCount < shown) {
    const seed = document.createElementNS(SVG, "circle");
    seed.setAttribute("class", `seed seed-${svg.childElementCount % 4}`);
    svg.append(seed);
  }
  const radius = Math.min(11, 40 / Math.sqrt(Math.max(shown, 1)) * Math.sqrt(height / 100));
  const places = Math.max(shown, 5);
  [...svg.children].forEach((seed, index) => {
    const from = shown === 1 ? 0 : Math.sqrt((index + 0.5) / places);
    seed.setAttribute("cx", 50 + (46 - radius) * from * Math.cos(index * GOLDEN));
    seed.setAttribute("cy", height / 2 + (height * 0.46 - radius) * from * Math.sin(index * GOLDEN));
    seed.setAttribute("r", radius);
  });
}

export class Board {
  /** `choose` is told which pit of which side was chosen. */
  constructor(element, choose) {
    this.element = element;
    this.choose = choose;
    this.pits = 0;
    this.running = 0;
  }

  build(pits) {
    this.pits = pits;
    this.element.replaceChildren();
    this.element.style.setProperty("--pits", pits);
    this.holes = { south: [], north: [] };
    const store = (side) => {
      const element = make("div", `store ${side}`, this.element);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 100 240");
      svg.setAttribute("aria-hidden", "true");
      element.append(svg);
      const count = make("span", "count", element);
      return { element, svg, count, kind: "store", height: 240, side };
    };
    const pit = (side, number) => {
      const cell = make("div", `cell ${side}`, this.element);
      cell.style.gridColumn = side === "south" ? number + 1 : pits - number + 2;
      const element = make("button", "pit", cell);
      element.type = "button";
      element.dataset.pit = number;
      element.dataset.side = side;
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 100 100");
      svg.setAttribute("aria-hidden", "true");
      element.append(svg);
      const count = make("span", "count", element);
      const shown = make("span", "number", element);
      shown.textContent = number;
      shown.setAttribute("aria-hidden", "true");
      const label = make("span", "label", cell);
      element.addEventListener("click", () => this.choose(side, number));
      return { element, svg, count, label, kind: "pit", height: 100, side, number };
    };
    const north = store("north");
    for (let number = pits; number >= 1; number--) this.holes.north[number - 1] = pit("north", number);
    for (let number = 1; number <= pits; number++) this.holes.south[number - 1] = pit("south", number);
    this.holes.north.push(north);
    this.holes.south.push(store("south"));
  }

  set(hole, count) {
    hole.seeds = count;
    hole.count.textContent = count;
    hole.element.classList.toggle("empty", count === 0);
    drawSeeds(hole.svg, count, DRAWN[hole.kind], hole.height);
    if (hole.kind === "store") {
      hole.element.setAttribute("role", "img");
      hole.element.setAttribute("aria-label", `${name(hole.side)}'s store: ${seeds(count)}`);
    }
  }

  /** Shows a place at once; what is moving stops. `swept`: whose seeds are left count for them. */
  show(place, playable, values) {
    this.running += 1;
    const board = place.board();
    if (board.rows[0].length !== this.pits) this.build(board.rows[0].length);
    ["south", "north"].forEach((side, index) => {
      [...board.rows[index], board.stores[index]].forEach((count, at) => this.set(this.holes[side][at], count));
    });
    this.label(place, playable, values);
  }

  /** Tells what each legal move is worth. */
  label(place, playable, values) {
    for (const side of ["south", "north"]) {
      this.element.classList.toggle(`${side}-moves`, place.side === side && !place.finished);
      for (const hole of this.holes[side].slice(0, -1)) {
        const move = place.side === side ? place.answer?.moves.find((move) => move.move === hole.number) : undefined;
        const told = move && values ? tell(move) : undefined;
        hole.label.replaceChildren();
        hole.label.className = `label ${told?.kind ?? ""}`;
        if (told) {
          make("b", "", hole.label).textContent = told.text;
          make("i", "", hole.label).textContent = told.word;
        }
        const best = Boolean(told) && place.answer.best.includes(hole.number);
        hole.label.classList.toggle("best", best);
        const legal = place.side === side && hole.seeds > 0 && !place.finished;
        hole.element.classList.toggle("legal", legal && playable);
        hole.element.setAttribute("aria-disabled", String(!(legal && playable)));
        hole.element.tabIndex = legal && playable ? 0 : -1;
        const worth = told ? `: ${told.full}${best ? ", best" : ""}` : "";
        hole.element.setAttribute("aria-label", `${name(side)} pit ${hole.number}, ${seeds(hole.seeds)}${worth}`);
      }
    }
  }

  /** The hole of a place of a sowing: the mover's pits, the mover's store, the other pits. */
  hole(side, place) {
    return place <= this.pits + 1
      ? this.holes[side][place - 1]
      : this.holes[side === "south" ? "north" : "south"][place - this.pits - 2];
  }

  /** Sows a move seed by seed. Resolves to false when something else was shown meanwhile. */
  async sow(side, move) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return true;
    this.running += 1;
    const run = this.running;
    const drops = move.sowing.reduce((sum, lift) => sum + lift.drops.length, 0);
    const time = Math.min(STEP, MOVE / (drops + 2));
    for (const lift of move.sowing) {
      let from = this.hole(side, lift.from);
      this.set(from, 0);
      for (const drop of lift.drops) {
        const to = this.hole(side, drop);
        await this.fly(from, to, time);
        if (run !== this.running) return false;
        this.set(to, to.seeds + 1);
        from = to;
      }
    }
    const store = this.hole(side, this.pits + 1);
    for (const place of move.captured ?? []) {
      const hole = this.hole(side, place);
      const count = hole.seeds;
      this.set(hole, 0);
      await this.fly(hole, store, 2 * time);
      if (run !== this.running) return false;
      this.set(store, store.seeds + count);
    }
    return true;
  }

  async fly(from, to, time) {
    const seed = make("div", "flying", this.element);
    const frame = this.element.getBoundingClientRect();
    const point = (hole) => {
      const box = hole.svg.getBoundingClientRect();
      return [box.left + box.width / 2 - frame.left, box.top + box.height / 2 - frame.top];
    };
    const [[x0, y0], [x1, y1]] = [point(from), point(to)];
    const at = (x, y, scale) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%) scale(${scale})` });
    const way = [at(x0, y0, 1), at((x0 + x1) / 2, (y0 + y1) / 2 - 8, 1.35), at(x1, y1, 1)];
    await seed.animate(way, { duration: time, easing: "ease-in-out" }).finished.catch(() => {});
    seed.remove();
  }

  /** Moves the focus along the legal pits, as they lie on the board. */
  walk(step) {
    const legal = [...this.element.querySelectorAll(".pit.legal")];
    if (legal.length === 0) return;
    const at = legal.indexOf(document.activeElement);
    legal[at < 0 ? (step > 0 ? 0 : legal.length - 1) : (at + step + legal.length) % legal.length].focus();
  }
}
