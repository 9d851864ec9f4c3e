//! Models builds on three cards from the work that builds give a device: `cargo bench --bench
//! gpu_model`.
//!
//! - The planning code of the builder counts dispatches, threads, moves, copies and memory.
//! - The compiler statistics (`--bench shader_statistics`) give the cost of a thread.
//! - The makers of the cards give their rates.
//! - This program measures the lists of moves and the maps of ranks, which are made on all cores.
//!
//! docs/gpu.md explains the model and has its tables. `benches/gpu_model.csv` has the rates of the H200, with which
//! `benches/gpu.sh` compares measurements: layer, kernels alone, whole build.
//!
//! - `KALAH_MODEL_RULES`: the rule set (default `empty-capture`).
//! - `KALAH_MODEL_SEEDS`: the last layer (default 40).

use kalah::build::gpu::stages::Stage;
use kalah::build::gpu::{BoardWork, Dispatch, LayerWork, Uploads};
use kalah::game::Rules;

/// The rates of a card and its machine, in bytes and operations a second.
struct Card {
    name: &'static str,
    /// Device memory that a build may take.
    memory: u64,
    /// Bandwidth of the device's memory, and of its second-level cache.
    bandwidth: f64,
    cache: f64,
    /// 32-bit integer instructions of threads.
    instructions: f64,
    /// Threads that run at once.
    threads: u64,
    /// Transfers in one direction.
    bus: f64,
}

const CARDS: [Card; 3] = [
    Card {
        name: "8 GB laptop",
        memory: 7_200_000_000,
        bandwidth: 256e9,
        cache: 1e12,
        instructions: 3.0e12,
        threads: 24 * 1536,
        bus: 12e9,
    },
    Card {
        name: "24 GB workstation",
        memory: 21_600_000_000,
        bandwidth: 1008e9,
        cache: 4e12,
        instructions: 20.0e12,
        threads: 128 * 1536,
        bus: 24e9,
    },
    Card {
        name: "H200",
        memory: 126_000_000_000,
        bandwidth: 4800e9,
        cache: 5.5e12,
        instructions: 14.8e12,
        threads: 132 * 2048,
        bus: 48e9,
    },
];

/// Share of a card's rates that kernels are assumed to reach.
const REACHED: f64 = 0.6;

/// Seconds from one dispatch to the next that waits for it, without work; and of one copy in device
/// memory.
const LAUNCH: f64 = 5e-6;
const COPY: f64 = 2e-6;

/// Seconds for which the device is idle at each frame: the size of its patches is read before these
/// are made, and its bytes are mapped.
const SYNC: f64 = 150e-6;

/// Rates in bytes a second: copies by one core out of a mapped buffer; copies by all cores to
/// staging buffers; checksums and digests by all cores; writes to the disk.
const CORE_COPY: f64 = 8e9;
const CORES_COPY: f64 = 20e9;
const CHECKSUMS: f64 = 20e9;
const DIGESTS: f64 = 20e9;
const DISK: f64 = 3e9;

const MAX_BINDING: u64 = (1 << 31) - 256;
const GIB: f64 = (1u64 << 30) as f64;

/// Cost of a thread of a stage: instructions, bytes of device memory, and bytes of the cache. Each
/// has a fixed part and a part for each entry (see [`Dispatch::entries`]).
struct Cost {
    instructions: (f64, f64),
    memory: (f64, f64),
    cache: (f64, f64),
}

/// Instructions are the vector instructions that RADV makes for navi21 (docs/gpu.md). For `encode`
/// the search for a base is included in two of eight waves. For `forward_relay` there are two
/// sowings from a crossing on, as with 28 seeds in play. Device memory: each word of scores once,
/// the codes of children once. Cache: sectors of 32 bytes, as far as the threads of a wave do not
/// share them.
fn cost(stage: Stage) -> Cost {
    let cost = |instructions, memory, cache| Cost { instructions, memory, cache };
    match stage {
        Stage::ForwardPass => cost((89.0, 74.0), (8.0, 2.1), (28.0, 12.0)),
        Stage::ForwardAgain => cost((50.0, 89.0), (8.0, 2.1), (48.0, 40.0)),
        Stage::ForwardCapture => cost((41.0, 159.0), (8.0, 2.1), (12.0, 40.0)),
        Stage::ForwardRelay => cost((1049.0, 16.0), (256.0, 8.0), (300.0, 8.0)),
        Stage::Transpose => cost((114.0, 0.0), (32.0, 0.0), (32.0, 0.0)),
        Stage::QuietLarge => cost((31.0, 18.0), (8.0, 4.0), (12.0, 4.0)),
        Stage::QuietSmall => cost((30.0, 51.0), (12.0, 0.0), (12.0, 32.0)),
        Stage::Profile => cost((30.0, 11.0), (4.0, 4.0), (4.0, 4.0)),
        Stage::Mean => cost((36.0, 0.0), (20.0, 0.0), (20.0, 0.0)),
        Stage::Encode => cost((61.0, 34.0), (68.0, 1.0), (68.0, 6.0)),
        Stage::Scan => cost((32.0, 0.0), (32.0, 0.0), (32.0, 0.0)),
        Stage::Patch => cost((30.0, 0.0), (8.0, 0.0), (68.0, 0.0)),
    }
}

/// Seconds of a layer on a card, by cause.
#[derive(Default)]
struct Seconds {
    launches: f64,
    memory: f64,
    cache: f64,
    instructions: f64,
    copies: f64,
    /// Waiting for the size of patches, and for frames that are uploaded from files.
    waiting: f64,
    /// In parallel with the device: transfers, lists of moves and maps of ranks, checksums and
    /// digests, writing.
    bus: f64,
    lists: f64,
    host: f64,
    writing: f64,
}

impl Seconds {
    fn of(layer: &LayerWork, card: &Card, uploads: Uploads, lists: f64) -> Seconds {
        let mut seconds = Seconds::default();
        let (frames, packed) = (layer.seeds as f64 - 1.0, layer.packed as f64);
        for dispatch in &layer.dispatches {
            let (instructions, memory, cache) = load(dispatch);
            // A card that is not full reaches less.
            let full = (dispatch.threads as f64 / card.threads as f64).min(1.0) * REACHED;
            let each = [
                memory / (card.bandwidth * REACHED),
                cache / (card.cache * REACHED),
                instructions / (card.instructions * full),
            ];
            let longest = each.into_iter().fold(0.0, f64::max);
            seconds.launches += LAUNCH;
            let part = match each.iter().position(|&one| one == longest) {
                Some(0) => &mut seconds.memory,
                Some(1) => &mut seconds.cache,
                _ => &mut seconds.instructions,
            };
            *part += longest;
        }
        // Frames of the last layer are only copied to the machine.
        let copied = layer.copied as f64 + packed;
        seconds.copies = 2.0 * copied / (card.bandwidth * REACHED) + layer.copies as f64 * COPY;
        // Frames uploaded from files are compared with their checksums the first time, then copied
        // to staging buffers. That stops the device, and so does waiting for memory to be freed.
        let uploaded = uploads.bytes as f64;
        seconds.waiting = (frames + uploads.waits as f64) * SYNC;
        seconds.waiting += uploads.checked as f64 / CHECKSUMS + uploaded / CORES_COPY;
        seconds.bus = packed.max(uploaded) / card.bus;
        seconds.lists = lists;
        // One thread copies frames out of the mapped buffer and requests their checksums and
        // digests. Another one writes.
        seconds.host = packed / CORE_COPY + packed / CHECKSUMS + packed / DIGESTS;
        seconds.writing = packed / DISK;
        seconds
    }

    /// The kernel seconds of `kalah bench`: the stages by the device's clock, without copies.
    fn kernels(&self) -> f64 {
        self.launches + self.memory + self.cache + self.instructions
    }

    fn device(&self) -> f64 {
        self.kernels() + self.copies + self.waiting
    }

    fn all(&self) -> f64 {
        self.device().max(self.bus).max(self.lists).max(self.host).max(self.writing)
    }

    /// The longest part.
    fn limit(&self) -> &'static str {
        let device = [
            (self.launches, "launches"),
            (self.memory, "memory"),
            (self.cache, "cache"),
            (self.instructions, "instructions"),
            (self.copies, "copies"),
            (self.waiting, "waiting"),
        ];
        let beside =
            [(self.writing, "writing"), (self.host, "checksums"), (self.bus, "transfers"), (self.lists, "lists")];
        let longest =
            |of: &[(f64, &'static str)]| of.iter().copied().fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
        if longest(&beside).0 > self.device() { longest(&beside).1 } else { longest(&device).1 }
    }
}

/// Instructions, bytes of device memory and of the cache.
fn load(dispatch: &Dispatch) -> (f64, f64, f64) {
    let cost = cost(dispatch.stage);
    let of = |(fixed, each): (f64, f64)| dispatch.threads as f64 * (fixed + each * dispatch.entries);
    (of(cost.instructions), of(cost.memory), of(cost.cache))
}

fn main() {
    let rules = std::env::var("KALAH_MODEL_RULES").unwrap_or_else(|_| "empty-capture".to_owned());
    let rules = Rules::ALL.into_iter().find(|one| one.name() == rules).expect("the name of a rule set");
    let last: usize = std::env::var("KALAH_MODEL_SEEDS").map_or(40, |seeds| seeds.parse().expect("a number of seeds"));
    let work = BoardWork::new(rules, 6, last).unwrap();
    let first = last.saturating_sub(16).max(2);
    let layers = |card: &Card| -> Vec<LayerWork> {
        (2..=last).map(|seeds| work.layer(seeds, card.memory, MAX_BINDING)).collect()
    };
    let h200 = layers(&CARDS[2]);
    stages(h200.iter().find(|layer| layer.seeds == last.min(34)).expect("a layer"));
    println!("\n| layer | positions | dispatches | of these small | instructions | memory | cache | copied | copies |");
    println!("|---:|{}", "---:|".repeat(8));
    for layer in h200.iter().filter(|layer| layer.seeds >= first).step_by(2) {
        let all: Vec<_> = layer.dispatches.iter().map(load).collect();
        let sum = |of: fn(&(f64, f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / layer.positions as f64;
        let small = layer.dispatches.iter().filter(|one| one.threads < CARDS[2].threads).count();
        println!(
            "| {} | {:.2}e9 | {} | {small} | {:.0} | {:.1} B | {:.0} B | {:.1} B | {} |",
            layer.seeds,
            layer.positions as f64 / 1e9,
            layer.dispatches.len(),
            sum(|all| all.0),
            sum(|all| all.1),
            sum(|all| all.2),
            layer.copied as f64 / layer.positions as f64,
            layer.copies,
        );
    }
    println!("\nlists and maps that no layer below has, on {} threads:", rayon::current_num_threads());
    // The lists and maps that no layer below has.
    let lists: Vec<f64> = (0..=last)
        .map(|seeds| {
            if seeds < first {
                return 0.0;
            }
            let (moves, (maps, bytes)) = (work.moves_seconds(seeds - 1), work.map_seconds(seeds));
            println!("{seeds} seeds: lists {moves:.3} s, maps {maps:.3} s, {:.0} MB", bytes as f64 / 1e6);
            moves + maps
        })
        .collect();
    for card in &CARDS {
        println!("\n{}", card.name);
        println!(
            "| layer | least memory | resident from | launches | memory | cache | instructions | copies | waiting \
             | brought | transfers | lists | checksums | writing | million/s kernels | million/s device | million/s \
             | limit |"
        );
        println!("|---:|{}---|", "---:|".repeat(16));
        let (mut total, mut positions) = (0.0, 0);
        for layer in layers(card) {
            let least = work.least_memory(layer.seeds, card.memory, MAX_BINDING);
            if least > card.memory {
                println!("| {} | {:.1} GiB | does not fit |", layer.seeds, least as f64 / GIB);
                break;
            }
            let resident = work.lowest_resident(layer.seeds, layer.seeds, card.memory, MAX_BINDING);
            let uploads = work.uploads(layer.seeds, card.memory, MAX_BINDING);
            let s = Seconds::of(&layer, card, uploads, lists[layer.seeds]);
            total += s.all();
            positions += layer.positions;
            if layer.seeds >= first && (layer.seeds - first).is_multiple_of(2) {
                let rate = |seconds: f64| layer.positions as f64 / seconds / 1e6;
                println!(
                    "| {} | {:.1} GiB | {resident} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} GB \
                     | {:.3} | {:.3} | {:.3} | {:.3} | {:.0} | {:.0} | {:.0} | {} |",
                    layer.seeds,
                    least as f64 / GIB,
                    s.launches,
                    s.memory,
                    s.cache,
                    s.instructions,
                    s.copies,
                    s.waiting,
                    uploads.bytes as f64 / 1e9,
                    s.bus,
                    s.lists,
                    s.host,
                    s.writing,
                    rate(s.kernels()),
                    rate(s.device()),
                    rate(s.all()),
                    s.limit(),
                );
            }
            if [last.min(34), last].contains(&layer.seeds) {
                let seeds = layer.seeds;
                println!("all layers to {seeds}: {positions} positions in {total:.1} s");
            }
        }
    }
}

/// Prints the work of each stage in a layer.
fn stages(layer: &LayerWork) {
    println!("layer of {} seeds, {} positions; per position:", layer.seeds, layer.positions);
    println!("| stage | dispatches | threads | entries a thread | instructions | memory | cache |");
    println!("|---|{}", "---:|".repeat(6));
    for stage in Stage::ALL {
        let of: Vec<&Dispatch> = layer.dispatches.iter().filter(|one| one.stage == stage).collect();
        if of.is_empty() {
            continue;
        }
        let threads: u64 = of.iter().map(|one| one.threads).sum();
        let entries = of.iter().map(|one| one.threads as f64 * one.entries).sum::<f64>() / threads as f64;
        let sum = |part: fn((f64, f64, f64)) -> f64| {
            of.iter().map(|one| part(load(one))).sum::<f64>() / layer.positions as f64
        };
        println!(
            "| `{}` | {} | {:.3} | {entries:.2} | {:.1} | {:.2} B | {:.1} B |",
            stage.name(),
            of.len(),
            threads as f64 / layer.positions as f64,
            sum(|all| all.0),
            sum(|all| all.1),
            sum(|all| all.2),
        );
    }
}
