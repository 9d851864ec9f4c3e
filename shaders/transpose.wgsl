// Transposes a matrix of bytes, tile by tile: a workgroup does one tile of TILE x TILE bytes.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> from_: array<u32>;
@group(0) @binding(2) var<storage, read_write> to_: array<u32>;

// One word more than a row needs keeps the columns in different banks.
const TILE_WORDS: u32 = TILE / 4u;
const TILE_STRIDE: u32 = TILE_WORDS + 1u;
var<workgroup> tile: array<u32, TILE * TILE_STRIDE>;

@compute @workgroup_size(WORKGROUP)
fn transpose_(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first_row = params.first_row + group.x / params.tiles * TILE;
    let first_column = params.first_column + group.x % params.tiles * TILE;
    for (var index = local; index < TILE * TILE_WORDS; index += WORKGROUP) {
        let row = first_row + index / TILE_WORDS;
        let word = first_column / 4u + index % TILE_WORDS;
        var value = 0u;
        if (row < params.rows && word < params.from_words) {
            value = from_[row * params.from_words + word - params.from_base];
        }
        tile[index / TILE_WORDS * TILE_STRIDE + index % TILE_WORDS] = value;
    }
    workgroupBarrier();
    for (var index = local; index < TILE * TILE_WORDS; index += WORKGROUP) {
        let column = index / TILE_WORDS;
        let word = first_row / 4u + index % TILE_WORDS;
        if (first_column + column < params.columns && word < params.to_words) {
            var value = 0u;
            for (var lane = 0u; lane < 4u; lane++) {
                let row = 4u * (index % TILE_WORDS) + lane;
                value |= extractBits(tile[row * TILE_STRIDE + column / 4u], 8u * (column % 4u), 8u) << (8u * lane);
            }
            to_[(first_column + column) * params.to_words + word - params.to_base] = value;
        }
    }
}
