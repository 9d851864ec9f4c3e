use fastrand::Rng;
use kalah::build::gpu::stages::{ABSENT, FrameAt, GROUP_WORDS, OVER};
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::table::PackedFrame;

use super::{TOTAL, random_words};

/// Makes scores of a frame that pack to groups with and without exceptions.
fn frame_scores(rng: &mut Rng, frame: Frame) -> Vec<u8> {
    let wild = *rng.choice([0.0, 0.002, 0.05, 0.6].iter()).unwrap();
    let rows: Vec<u8> = (0..frame.mover_rows()).map(|_| rng.u8(5..35)).collect();
    (0..frame.positions())
        .map(|index| rows[frame.ranks(index).0 as usize])
        .map(|score| if rng.f64() < wild { rng.u8(0..=TOTAL as u8) } else { score + rng.u8(0..8) })
        .collect()
}

/// An operand: packed frames one after the other, and their places.
#[derive(Default)]
pub(super) struct Operand {
    bytes: Vec<u8>,
    pub frames: Vec<FrameAt>,
    pub exceptions: u64,
}

impl Operand {
    pub(super) fn new(rng: &mut Rng) -> Operand {
        // A frame begins where another ends.
        Operand { bytes: vec![0xa5; 64 * rng.usize(1..4)], ..Operand::default() }
    }

    pub(super) fn push(&mut self, rng: &mut Rng, frame: Frame) {
        let packed = PackedFrame::pack(Isa::detect(), frame, &frame_scores(rng, frame));
        let (at, entry) = (self.bytes.len() as u64, packed.entry(0));
        let groups_at = at + entry.rows.next_multiple_of(64);
        self.frames.push(FrameAt {
            profile_at: at as u32,
            groups_at: (groups_at / 4) as u32,
            patches_at: (groups_at + 4 * u64::from(GROUP_WORDS) * entry.groups) as u32,
            rows: entry.rows as u32,
        });
        self.bytes.extend_from_slice(packed.section());
        self.exceptions += entry.exceptions;
    }

    pub(super) fn push_absent(&mut self) {
        self.frames.push(FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT });
    }

    pub(super) fn push_over(&mut self, score: u32) {
        self.frames.push(FrameAt { profile_at: score, groups_at: 0, patches_at: 0, rows: OVER });
    }

    /// Returns the operand, and the list of frames behind some other ones.
    pub(super) fn buffers(self, rng: &mut Rng, frames_at: u32) -> [Vec<u32>; 2] {
        let mut frames = random_words(rng, 4 * frames_at as usize);
        frames.truncate(4 * frames_at as usize);
        frames.extend_from_slice(bytemuck::cast_slice(&self.frames));
        [bytemuck::pod_collect_to_vec(&self.bytes), frames]
    }
}
