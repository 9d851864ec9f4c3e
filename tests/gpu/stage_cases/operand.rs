use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::{ABSENT, Forward, FrameAt, GROUP_POSITIONS, GROUP_WORDS, OVER, rows_of_whole_groups};
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::table::PackedFrame;

use super::{TOTAL, random_part, words_before};

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
        let rows = frame.mirrored().mover_rows();
        self.push_rows(rng, frame, &(0..rows));
    }

    /// Pushes some rows of the waiting side, which begin with a group. The others are missing.
    fn push_rows(&mut self, rng: &mut Rng, frame: Frame, rows: &Range<usize>) {
        let packed = PackedFrame::pack(Isa::detect(), frame, &frame_scores(rng, frame));
        let (at, entry) = (self.bytes.len() as u64, packed.entry(0));
        let group = |row: usize| (row as u64 * entry.rows).div_ceil(u64::from(GROUP_POSITIONS));
        let (groups, group_bytes) = (group(rows.start)..group(rows.end), 4 * u64::from(GROUP_WORDS));
        let groups_at = at + entry.groups_at();
        self.frames.push(FrameAt {
            profile_at: at as u32,
            groups_at: (groups_at / 4) as u32,
            patches_at: (groups_at + group_bytes * (groups.end - groups.start)) as u32,
            rows: entry.rows as u32,
        });
        let bytes = |range: Range<u64>| &packed.section()[range.start as usize..range.end as usize];
        self.bytes.extend_from_slice(bytes(0..entry.groups_at()));
        let [first, end] = [groups.start, groups.end].map(|group| entry.groups_at() + group_bytes * group);
        self.bytes.extend_from_slice(bytes(first..end));
        self.bytes.extend_from_slice(bytes(entry.patches_at()..entry.section().end()));
        self.exceptions += entry.exceptions;
    }

    /// Pushes the whole frame, or only some rows of the waiting side. Sets these rows in the parameters.
    pub(super) fn push_part(&mut self, rng: &mut Rng, frame: Frame, params: &mut Forward) {
        let (unit, rows) = (rows_of_whole_groups(frame.mover_rows() as u64) as usize, frame.mirrored().mover_rows());
        let part = random_part(rng, rows.div_ceil(unit));
        let part = part.start * unit..rows.min(part.end * unit);
        self.push_rows(rng, frame, &part);
        (params.first_waiting, params.waiting_rows) = (part.start as u32, part.len() as u32);
    }

    pub(super) fn push_absent(&mut self) {
        self.frames.push(FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT });
    }

    pub(super) fn push_over(&mut self, score: u32) {
        self.frames.push(FrameAt { profile_at: score, groups_at: 0, patches_at: 0, rows: OVER });
    }

    /// Returns the operand, and the list of frames behind some other ones, whose number becomes a parameter.
    pub(super) fn buffers(self, rng: &mut Rng, params: &mut Forward) -> [Vec<u32>; 2] {
        params.frames_at = rng.u32(0..5);
        let mut frames = words_before(rng, 4 * params.frames_at as usize);
        frames.extend_from_slice(bytemuck::cast_slice(&self.frames));
        [bytemuck::pod_collect_to_vec(&self.bytes), frames]
    }
}
