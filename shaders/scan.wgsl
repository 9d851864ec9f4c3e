// Replaces each number by the sum of those before it in its block of SCAN_BLOCK, with one workgroup
// per block. The sum of each block goes to `sums`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

var<workgroup> partial: array<u32, WORKGROUP>;

const SCAN_SHARE: u32 = SCAN_BLOCK / WORKGROUP;

@compute @workgroup_size(WORKGROUP)
fn scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let block = params.first_block + group.x;
    let first = block * SCAN_BLOCK + local * SCAN_SHARE;
    let end = min(first + SCAN_SHARE, params.numbers);
    var sum = 0u;
    for (var index = first; index < end; index++) {
        sum += numbers[index];
    }
    partial[local] = sum;
    for (var reach = 1u; reach < WORKGROUP; reach *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if (local >= reach) {
            before = partial[local - reach];
        }
        workgroupBarrier();
        partial[local] += before;
    }
    if (local == WORKGROUP - 1u) {
        sums[block] = partial[local];
    }
    var running = partial[local] - sum;
    for (var index = first; index < end; index++) {
        let number = numbers[index];
        numbers[index] = running;
        running += number;
    }
}
