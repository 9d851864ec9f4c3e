// The profile of a frame: the mean score of each mover's row, rounded down. A thread computes one word of it.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> profile: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn mean(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= params.threads) {
        return;
    }
    var bytes = vec4<u32>(0u);
    for (var lane = 0u; lane < 4u && 4u * id.x + lane < params.rows; lane++) {
        bytes[lane] = sums[4u * id.x + lane] / params.others;
    }
    profile[id.x] = pack4xU8(bytes);
}
