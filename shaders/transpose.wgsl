// Transposes a matrix of bytes, tile by tile. A workgroup transposes one tile of TILE x TILE bytes,
// a thread a block of 4 x 4 bytes of it.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> from_: array<u32>;
@group(0) @binding(2) var<storage, read_write> to_: array<u32>;

// The workgroup shares the tile. A row has one word more than it needs, which keeps the columns in
// different banks.
const TILE_WORDS: u32 = TILE / 4u;
const TILE_STRIDE: u32 = TILE_WORDS + 1u;
var<workgroup> tile: array<u32, TILE * TILE_STRIDE>;

const EVEN_BYTES: u32 = 0x00ff00ffu;

// A word of the matrix; zero beyond the last row. Beyond the last word, which has no columns, its
// value is arbitrary.
fn from_word(row: u32, word: u32) -> u32 {
    let at = min(row, params.rows - 1u) * params.from_words + min(word, params.from_words - 1u);
    return select(0u, from_[at - params.from_base], row < params.rows);
}

@compute @workgroup_size(WORKGROUP)
fn transpose_(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile_row = group.x / params.tiles;
    let first_row = params.first_row + tile_row * TILE;
    let first_column = params.first_column + (group.x - tile_row * params.tiles) * TILE;
    let word = local % TILE_WORDS;
    let block = local / TILE_WORDS;
    // Four bytes of each of four rows.
    let row = first_row + 4u * block;
    let from_at = first_column / 4u + word;
    let a = from_word(row, from_at);
    let b = from_word(row + 1u, from_at);
    let c = from_word(row + 2u, from_at);
    let d = from_word(row + 3u, from_at);
    // Pairs of rows: the bytes of the even columns, and those of the odd ones.
    let even_ab = (a & EVEN_BYTES) | ((b & EVEN_BYTES) << 8u);
    let even_cd = (c & EVEN_BYTES) | ((d & EVEN_BYTES) << 8u);
    let odd_ab = ((a >> 8u) & EVEN_BYTES) | (b & ~EVEN_BYTES);
    let odd_cd = ((c >> 8u) & EVEN_BYTES) | (d & ~EVEN_BYTES);
    let at = 4u * word * TILE_STRIDE + block;
    tile[at] = (even_ab & 0xffffu) | (even_cd << 16u);
    tile[at + TILE_STRIDE] = (odd_ab & 0xffffu) | (odd_cd << 16u);
    tile[at + 2u * TILE_STRIDE] = (even_ab >> 16u) | (even_cd & 0xffff0000u);
    tile[at + 3u * TILE_STRIDE] = (odd_ab >> 16u) | (odd_cd & 0xffff0000u);
    workgroupBarrier();
    let to_word = first_row / 4u + word;
    if (4u * to_word >= params.rows) {
        return;
    }
    for (var index = 0u; index < 4u; index++) {
        let place = block + index * TILE_WORDS;
        let column = first_column + place;
        if (column < params.columns) {
            to_[column * params.to_words + to_word - params.to_base] = tile[place * TILE_STRIDE + word];
        }
    }
}
