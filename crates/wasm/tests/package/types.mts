// The types of the package, as a strict compiler sees them.

import { type Code, compile, type Kalah, KalahError, type Layer, load, type Move, type Options } from "kalah";
import type { Probe, Solution } from "kalah";
import { type KalahWorker, start } from "kalah/worker";

const options: Options = { rules: "s-kalaha", pits: 4, seeds: 12, transpositions: 2 ** 20 };
const module: WebAssembly.Module = await compile();
const here: Kalah[] = [
  await load(),
  await load(options),
  await load(module, options),
  await load(fetch("kalah_wasm.wasm")),
  await load(new Uint8Array(8), {}),
];
const there: KalahWorker[] = [await start(), await start(options), await start(module, options)];

const layer: Layer | null = here[0]!.build();
here[0]!.buildAll(({ seeds }) => seeds.toFixed());
const probe: Probe = here[0]!.probe("6x4");
const solution: Solution = await there[0]!.solve("6x4", 1);
const moves: Move[] = probe.moves;
const value: number | undefined = solution.value;
await there[0]!.buildAll();
await there[0]!.end();
const code = (error: unknown): Code | undefined => (error instanceof KalahError ? error.code : undefined);
export { code, layer, moves, value };

// @ts-expect-error: no such option
await load({ seed: 12 });
// @ts-expect-error: a position is a text
here[0].probe(4);
// @ts-expect-error: a search within its time may have bounds only
const proved: number = solution.value;
// @ts-expect-error: the last layer has no successor
here[0].build().seeds;
// @ts-expect-error: this is internal
there[0].load(module, options);
export { proved };
