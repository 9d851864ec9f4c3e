//! Counts the instructions of a disassembly by the depth of their loop.

/// Instructions of a program, by loop depth: outside all loops, in loops, in loops within loops and
/// so on.
#[derive(Debug, Default, PartialEq)]
pub struct Instructions {
    /// Instructions that run for each thread.
    pub vector: Vec<usize>,
    /// Of these, the ones that read or write buffers or workgroup memory.
    pub memory: Vec<usize>,
    /// Instructions that run once for the threads that run together.
    pub scalar: Vec<usize>,
}

/// A basic block: its number, its instructions as in [`Instructions`], and the blocks that it jumps to.
#[derive(Debug, Default)]
struct Block {
    number: usize,
    vector: usize,
    memory: usize,
    scalar: usize,
    targets: Vec<usize>,
}

impl Instructions {
    /// Counts the instructions of a disassembly of RADV. Blocks begin with `BB` and their number. A
    /// jump back is a loop from its target to the block that jumps.
    pub fn of(text: &str) -> Instructions {
        let blocks = blocks(text);
        let mut loops: Vec<(usize, usize)> = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            for target in &block.targets {
                let Some(head) = blocks.iter().position(|other| other.number == *target) else { continue };
                // Several jumps back to the same block are one loop.
                match loops.iter_mut().find(|other| other.0 == head) {
                    _ if head > place => {}
                    Some(other) => other.1 = other.1.max(place),
                    None => loops.push((head, place)),
                }
            }
        }
        let mut counted = Instructions::default();
        for (place, block) in blocks.iter().enumerate() {
            let depth = loops.iter().filter(|(head, end)| (*head..=*end).contains(&place)).count();
            let Instructions { vector, memory, scalar } = &mut counted;
            for (counts, more) in [(vector, block.vector), (memory, block.memory), (scalar, block.scalar)] {
                counts.resize(counts.len().max(depth + 1), 0);
                counts[depth] += more;
            }
        }
        counted
    }
}

impl std::fmt::Display for Instructions {
    /// For each depth `vector (memory) + scalar`.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (depth, ((vector, memory), scalar)) in self.vector.iter().zip(&self.memory).zip(&self.scalar).enumerate() {
            write!(formatter, "{}{vector} ({memory}) + {scalar}", if depth > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = vec![Block { number: usize::MAX, ..Block::default() }];
    for line in text.lines() {
        let code = line.split(';').next().unwrap_or_default().trim();
        if let Some(number) = code.strip_suffix(':').and_then(number_of) {
            blocks.push(Block { number, ..Block::default() });
            continue;
        }
        let Some(name) = code.split_whitespace().next() else { continue };
        let block = blocks.last_mut().expect("never empty");
        let Some((class, _)) = name.split_once('_').filter(|_| name.is_ascii()) else { continue };
        if !matches!(class, "s" | "v" | "ds" | "global" | "buffer" | "scratch" | "flat" | "image") {
            continue;
        }
        *(if class == "s" { &mut block.scalar } else { &mut block.vector }) += 1;
        block.memory += usize::from(!matches!(class, "s" | "v"));
        if name.contains("branch") {
            block.targets.extend(code.split_whitespace().nth(1).and_then(number_of));
        }
    }
    blocks
}

/// The number of a block from its name.
fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix("BB")?.parse().ok()
}
