// Sums of the scores of each mover's row over all other rows. A thread adds four columns of PROFILE_ROWS runs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scores: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn profile(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    let word = id.x % params.words;
    let first = params.first_row + id.x / params.words * PROFILE_ROWS;
    let end = min(first + PROFILE_ROWS, params.end_row);
    var sum = vec4<u32>(0u);
    for (var row = first; row < end; row++) {
        sum += unpack4xU8(scores[row * params.words + word - params.base]);
    }
    for (var lane = 0u; lane < 4u; lane++) {
        atomicAdd(&sums[4u * word + lane], sum[lane]);
    }
}
