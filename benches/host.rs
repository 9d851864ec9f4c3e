//! Measures the way of packed frames from a device's memory to a file, without a device: `cargo bench --bench host`.
//!
//! A layer of random frames is copied from memory, gets its checksums and digests, and is written as a build writes it:
//! to nowhere, to a file in memory, and to a file beside the program. Medians of five, in GB/s. The last column, for
//! busy machines, has the GB that a second of processor time copies and hashes.
//!
//! - `KALAH_BENCH_SEEDS`: the layer (default 26, 0.4 GB).
//! - `KALAH_BENCH_MEMORY`: a directory in memory (default `/dev/shm`).
//! - `KALAH_BENCH_DISK`: a directory on the disk (default: that of the program).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kalah::build::{
    Backend, ComputeError, Computer, Device, DeviceComputer, DeviceError, DeviceTraffic, FrameOutput, measure,
};
use kalah::game::Rules;
use kalah::index::Frame;
use kalah::progress::Pulse;
use kalah::table::format::TableHeader;
use kalah::table::{FrameMemory, PackedFrame, TableKey, TableWriter, Tables};
use rayon::prelude::*;

const RUNS: usize = 5;

/// Bytes of random data: more than caches hold.
const RANDOM_BYTES: usize = 256 << 20;

/// Bytes that one thread hashes at a time.
const PART_BYTES: usize = 1 << 20;

/// A device whose frames are parts of random data.
#[derive(Clone, Debug)]
struct Random(Arc<[u8]>);

impl Random {
    /// Profile and groups of a frame, without patches.
    fn data(&self, frame: Frame) -> &[u8] {
        let bytes = frame.mover_rows().next_multiple_of(64) + 64 * frame.positions().div_ceil(126) as usize;
        let first = frame.mover * 7919 * 64 % (self.0.len() - bytes);
        &self.0[first..first + bytes]
    }
}

impl Computer for Random {
    fn compute_ahead(
        &mut self,
        _: &Tables,
        frames: &[Frame],
        _: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        for &frame in frames {
            output.take(PackedFrame::copy_of(frame, &[self.data(frame)], output.memory()).expect("no patches"))?;
        }
        Ok(())
    }
}

impl DeviceComputer for Random {
    fn begin_measuring(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn stage_seconds(&self) -> Option<Vec<(&'static str, f64)>> {
        None
    }

    fn traffic(&self) -> DeviceTraffic {
        DeviceTraffic::default()
    }
}

impl Device for Random {
    fn name(&self) -> &str {
        "random data"
    }

    fn computer(self: Arc<Self>, _: &Tables, _: usize) -> Result<Box<dyn DeviceComputer>, ComputeError> {
        Ok(Box::new((*self).clone()))
    }

    fn require_layer(&self, _: usize, _: usize) -> Result<(), DeviceError> {
        Ok(())
    }

    fn least_memory(&self, _: usize, _: usize) -> u64 {
        0
    }

    fn holds(&self, _: usize, _: usize, _: u64) -> bool {
        true
    }

    fn rate(&self, _: bool) -> f64 {
        1e9
    }
}

/// The frames of a layer, and where they are written.
struct Layer {
    random: Random,
    tables: Tables,
    key: TableKey,
    frames: Vec<Frame>,
    bytes: u64,
}

impl Layer {
    fn new(seeds: usize) -> Layer {
        let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds };
        let mut bytes = vec![0; RANDOM_BYTES];
        fastrand::Rng::with_seed(1).fill(&mut bytes);
        let random = Random(bytes.into());
        let frames: Vec<Frame> = key.frames().collect();
        let bytes = frames.iter().map(|&frame| random.data(frame).len() as u64).sum();
        let tables = Tables::empty(Path::new("no files"), key.rules, key.pits, seeds).expect("a possible layer");
        Layer { random, tables, key, frames, bytes }
    }

    /// Seconds to hash all frames, each in parts, with nothing else.
    fn hash(&self, hash: impl Fn(&[u8]) -> u64 + Sync) -> f64 {
        let start = Instant::now();
        for &frame in &self.frames {
            self.random.data(frame).par_chunks(PART_BYTES).for_each(|part| {
                std::hint::black_box(hash(part));
            });
        }
        start.elapsed().as_secs_f64()
    }

    /// Processor seconds to copy and hash all frames.
    fn seal(&self) -> f64 {
        let time = || kalah::system::processor_time().map_or(f64::NAN, |time| time.as_secs_f64());
        let (start, mut bytes) = (time(), Vec::new());
        for &frame in &self.frames {
            let memory = FrameMemory { bytes, most: self.bytes as usize, file_at: 0 };
            bytes = PackedFrame::copy_of(frame, &[self.random.data(frame)], memory).expect("no patches").into_buffer();
        }
        time() - start
    }

    /// Seconds of only writing, of all without writing, and of all.
    fn to_file(&self, directory: &Path) -> [f64; 3] {
        let place = tempfile::tempdir_in(directory).expect("a temporary directory");
        let mut writer = TableWriter::open(place.path(), self.key).expect("a new file");
        let (mut written, mut bytes) = (0.0, Vec::new());
        let mut file_at = TableHeader::prefix_bytes(self.key, self.frames.len()) as u64;
        for &frame in &self.frames {
            let memory = FrameMemory { bytes, most: self.bytes as usize, file_at };
            let packed = PackedFrame::copy_of(frame, &[self.random.data(frame)], memory).expect("no patches");
            let start = Instant::now();
            writer.write(&packed).expect("enough space");
            written += start.elapsed().as_secs_f64();
            file_at += packed.section().len() as u64;
            bytes = packed.into_buffer();
        }
        drop((writer, place));
        let backend = Backend::Gpu(Arc::new(self.random.clone()));
        let measured = measure(&backend, &self.tables, self.key.seeds, directory, &Pulse::default());
        let measured = measured.expect("enough space");
        [written, measured.gpu.expect("a device").unwritten_seconds, measured.seconds]
    }
}

fn main() {
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let seeds = set("KALAH_BENCH_SEEDS", "26").parse().expect("KALAH_BENCH_SEEDS is a number");
    let memory = PathBuf::from(set("KALAH_BENCH_MEMORY", "/dev/shm"));
    let program = std::env::current_exe().expect("the program has a path");
    let disk = PathBuf::from(set("KALAH_BENCH_DISK", &program.parent().expect("a directory").to_string_lossy()));
    let layer = Layer::new(seeds);
    println!(
        "{seeds} seeds: {} frames, {:.2} GB. GB/s of each stage alone, then of all:",
        seeds - 1,
        layer.bytes as f64 / 1e9
    );
    println!("threads  checksums   digest   memory     disk    | nowhere   memory     disk   a core");
    let most = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    for threads in (0..).map(|power| 1 << power).take_while(|&threads| threads <= most) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut runs: [Vec<f64>; 8] = Default::default();
        for _ in 0..RUNS {
            let seconds = pool.install(|| {
                let checksums = layer.hash(xxhash_rust::xxh3::xxh3_64);
                let digest = layer.hash(|part| blake3::hash(part).as_bytes()[0].into());
                let [memory_alone, _, memory] = layer.to_file(&memory);
                let [disk_alone, nowhere, disk] = layer.to_file(&disk);
                [checksums, digest, memory_alone, disk_alone, nowhere, memory, disk, layer.seal()]
            });
            runs.iter_mut().zip(seconds).for_each(|(runs, seconds)| runs.push(layer.bytes as f64 / seconds / 1e9));
        }
        let medians = runs.map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            rates[RUNS / 2]
        });
        let [checksums, digest, memory_alone, disk_alone, nowhere, memory, disk, core] = medians;
        println!(
            "{threads:>7} {checksums:>10.2} {digest:>8.2} {memory_alone:>8.2} {disk_alone:>8.2}    \
             |{nowhere:>8.2} {memory:>8.2} {disk:>8.2} {core:>8.2}"
        );
    }
}
