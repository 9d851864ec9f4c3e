//! What keeps processors waiting in a build: `cargo bench --bench step_graph`.
//!
//! Builds layers and records the processor time of every task of every step ([`kalah::steps`]), which other programs on the
//! machine hardly change. Then it simulates the steps on 1, 2, 8, 16 and 64 processors that do nothing else: a free processor takes
//! the next task of the first step that can run. Waiting for the disk is not simulated, nor that processors share caches
//! and memory. Three orders are simulated: *together*, that of the builder, with as many small pairs of frames at a time as fit the memory
//! of the largest one of the layer; *single*, one pair after the other; and *serial*, where also the thread that writes a frame
//! computes its digest, and one thread corrects the offsets of patches and touches new memory.
//!
//! With more threads steps have smaller tasks, so for many processors record with as many: `RAYON_NUM_THREADS=64`, on any machine.
//!
//! `KALAH_BENCH_FIRST` and `KALAH_BENCH_SEEDS` are the first and the last layer (default 22 and 24), `KALAH_BENCH_RULES` is the
//! rule set, and `TMPDIR` the directory of the temporary tables.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use kalah::build::build;
use kalah::build::cpu::Workspace;
use kalah::game::Rules;
use kalah::index::layer_positions;
use kalah::steps::{StepRecord, record};

const PROCESSORS: [usize; 5] = [1, 2, 8, 16, 64];

/// Nanoseconds from the end of a step to the first task of the next one, and between two tasks: assumed.
const BETWEEN_STEPS: u64 = 2000;
const BETWEEN_TASKS: u64 = 200;

fn main() {
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let number = |name, default| set(name, default).parse::<usize>().expect("a number of seeds");
    let (first, last) = (number("KALAH_BENCH_FIRST", "22"), number("KALAH_BENCH_SEEDS", "24"));
    let rules: Rules = set("KALAH_BENCH_RULES", "empty-capture").parse().expect("KALAH_BENCH_RULES is a rule set");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (report, mut records) = record(|| build(directory.path(), rules, 6, last));
    report.expect("tables are built");
    for seeds in first..=last {
        let is_of_layer =
            |record: &mut StepRecord| record.frame.is_some_and(|frame| frame.mover + frame.other == seeds);
        let records: Vec<StepRecord> = records.extract_if(.., is_of_layer).collect();
        let positions = layer_positions(6, seeds) as f64;
        let all: f64 = records.iter().map(seconds).sum();
        println!("\n{rules}, 6 pits, {seeds} seeds, {positions} positions: {all:.3} s of one processor");
        let mut steps: BTreeMap<&str, (usize, usize, f64)> = BTreeMap::new();
        for record in &records {
            let (count, tasks, time) = steps.entry(record.name).or_default();
            (*count, *tasks, *time) = (*count + 1, *tasks + record.tasks.len(), *time + seconds(record));
        }
        println!("{:<28} {:>8} {:>9} {:>8} {:>13}", "step", "steps", "tasks", "seconds", "ns a position");
        for (name, (count, tasks, time)) in steps {
            println!("{name:<28} {count:>8} {tasks:>9} {time:>8.3} {:>13.3}", time * 1e9 / positions);
        }
        println!(
            "{:<10} {:<9} {:>8} {:>8} {:>8}   others wait for",
            "processors", "order", "seconds", "million/s", "busy"
        );
        let graphs = [
            ("serial", graph(&records, &batches(seeds, false), true)),
            ("single", graph(&records, &batches(seeds, false), false)),
            ("together", graph(&records, &batches(seeds, true), false)),
        ];
        for (processors, (order, graph)) in
            PROCESSORS.iter().flat_map(|&count| graphs.iter().map(move |graph| (count, graph)))
        {
            let simulated = simulate(graph, processors);
            let seconds = simulated.end as f64 / 1e9;
            let mut waiting: Vec<(&str, u64)> = simulated.waiting.into_iter().collect();
            waiting.sort_by_key(|&(_, time)| Reverse(time));
            let of = simulated.end as f64 * processors as f64 / 100.0;
            let waiting: Vec<String> =
                waiting.iter().take(4).map(|(name, time)| format!("{name} {:.1} %", *time as f64 / of)).collect();
            println!(
                "{processors:>10} {order:<9} {seconds:>8.3} {:>8.0} {:>6.1} %   {}",
                positions / seconds / 1e6,
                all * 1e11 / (simulated.end as f64 * processors as f64),
                waiting.join(", ")
            );
        }
    }
}

fn seconds(record: &StepRecord) -> f64 {
    record.tasks.iter().map(|&seconds| f64::from(seconds)).sum()
}

/// Tasks that can run at the same time, when all of certain steps before are done.
struct Step {
    name: &'static str,
    /// Nanoseconds of each task.
    tasks: Vec<u64>,
    /// The steps that wait for this one.
    then: Vec<usize>,
    /// Steps that this one waits for.
    after: usize,
}

/// The steps of a build in the order in which they are preferred.
#[derive(Default)]
struct Graph(Vec<Step>);

impl Graph {
    fn push(&mut self, name: &'static str, tasks: Vec<u64>, after: impl IntoIterator<Item = usize>) -> usize {
        let (number, mut waits) = (self.0.len(), 0);
        for before in after {
            self.0[before].then.push(number);
            waits += 1;
        }
        self.0.push(Step { name, tasks, then: Vec::new(), after: waits });
        number
    }
}

/// The step of the thread that writes; the last two steps before a frame is handed over to it; and a step before these.
const WRITE: &str = "write";
const PACKED: &str = "digest";
const SUMMED: &str = "checksums";
const OFFSETS: &str = "offsets of patches";
const MEMORY: &str = "memory of a packed frame";

/// By seeds of the smaller side, 0 unused: the batch of a pair of frames. Batches are computed one after the other, the pairs of a batch at
/// the same time: each pair alone, or as many as fit the memory of the largest one.
fn batches(seeds: usize, together: bool) -> Vec<usize> {
    let bytes = |small: usize| Workspace::bytes(6, small, seeds - small);
    let most = (1..=seeds / 2).map(bytes).max().unwrap_or(0);
    let (mut batch, mut used) = (1, 0);
    let pairs = (1..=seeds / 2).map(|small| {
        if used > 0 && (!together || used + bytes(small) > most) {
            (batch, used) = (batch + 1, 0);
        }
        used += bytes(small);
        batch
    });
    std::iter::once(0).chain(pairs).collect()
}

/// The steps as the builder orders them: one after the other, except that a frame is written while the next ones are
/// computed, and that a packed frame waits until the one before is written. With `serial`, one thread corrects the offsets of
/// patches, and the one that writes computes digests.
fn graph(records: &[StepRecord], batches: &[usize], serial: bool) -> Graph {
    let mut graph = Graph::default();
    let nanoseconds = |record: &StepRecord| -> Vec<u64> {
        let tasks = record.tasks.iter().map(|&time| (f64::from(time) * 1e9) as u64);
        if serial && [OFFSETS, MEMORY, PACKED].contains(&record.name) { vec![tasks.sum()] } else { tasks.collect() }
    };
    let mut chains: Vec<Vec<&StepRecord>> = vec![Vec::new(); batches.len()];
    let mut writes: BTreeMap<(usize, usize), Vec<&StepRecord>> = BTreeMap::new();
    for record in records {
        let frame = record.frame.expect("the steps of a layer");
        if record.name == WRITE || serial && record.name == PACKED {
            writes.entry((frame.mover, frame.other)).or_default().push(record);
        } else {
            chains[frame.mover.min(frame.other)].push(record);
        }
    }
    let handed_over = if serial { SUMMED } else { PACKED };
    let mut written = None;
    let mut start: Vec<usize> = Vec::new();
    for same in (0..batches.len()).collect::<Vec<_>>().chunk_by(|&a, &b| batches[a] == batches[b]) {
        let mut ends = Vec::new();
        for &small in same {
            let mut last = start.clone();
            for record in &chains[small] {
                last = vec![graph.push(record.name, nanoseconds(record), last)];
                if let Some(frame) = record.frame.filter(|_| record.name == handed_over) {
                    let handed = graph.push("handing over", Vec::new(), last.iter().copied().chain(written));
                    written = Some(handed);
                    for write in writes.get(&(frame.mover, frame.other)).into_iter().flatten() {
                        written = Some(graph.push(write.name, nanoseconds(write), written));
                    }
                    if same.len() == 1 {
                        last = vec![handed];
                    }
                }
            }
            ends.extend(last);
        }
        start = ends;
    }
    graph
}

struct Simulated {
    /// Nanoseconds.
    end: u64,
    /// For each step that was running while there was nothing else to do: the time of the processors without work.
    waiting: BTreeMap<&'static str, u64>,
}

fn simulate(Graph(steps): &Graph, processors: usize) -> Simulated {
    let mut after: Vec<usize> = steps.iter().map(|step| step.after).collect();
    let (mut begun, mut ended) = (vec![0; steps.len()], vec![0; steps.len()]);
    // Steps with tasks that nobody has taken, and the earliest time of these tasks.
    let mut ready: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let mut running: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let (mut now, mut free) = (0, processors);
    let mut waiting = BTreeMap::new();
    let mut done: Vec<usize> = (0..steps.len()).filter(|&step| after[step] == 0).collect();
    loop {
        while let Some(step) = done.pop() {
            if !steps[step].tasks.is_empty() {
                ready.push(Reverse(step));
                continue;
            }
            for &then in &steps[step].then {
                after[then] -= 1;
                done.extend((after[then] == 0).then_some(then));
            }
        }
        while free > 0
            && let Some(&Reverse(step)) = ready.peek()
        {
            let delay = if begun[step] == 0 { BETWEEN_STEPS } else { BETWEEN_TASKS };
            running.push(Reverse((now + steps[step].tasks[begun[step]] + delay, step)));
            begun[step] += 1;
            free -= 1;
            if begun[step] == steps[step].tasks.len() {
                ready.pop();
            }
        }
        let Some(Reverse((time, step))) = running.pop() else { break };
        if free > 0 {
            *waiting.entry(steps[step].name).or_default() += (time - now) * free as u64;
        }
        (now, free) = (time, free + 1);
        ended[step] += 1;
        if ended[step] == steps[step].tasks.len() {
            for &then in &steps[step].then {
                after[then] -= 1;
                done.extend((after[then] == 0).then_some(then));
            }
        }
    }
    Simulated { end: now, waiting }
}
