// What a batch needs beside the certificate of all its blocks together: sums for each, and partners counted within each. A
// problem by itself is cut into parts, whose sums the host adds up.
//
//   auction_block_sums      a warp a block and line of terms, in one order on every run
//   auction_local_partners  a thread a row, or a column
//
// Bytes: 24 per row and 16 per column read for the sums, 8 read and written for partners. No two threads write one place.
// variant: -DINTEGER -DCOST=int
#include "problem/graph.cuh"

// Where block b begins; without offsets, members are cut into as many parts as there are blocks.
__device__ __forceinline__ int64 begin_of(const int64* offsets, int b, int n_blocks, int n_members) {
    return offsets == nullptr ? b * (int64)n_members / n_blocks : offsets[b];
}

__device__ __forceinline__ dual_t size_of(dual_t x) { return x < 0 ? -x : x; }

__device__ __forceinline__ dual_t over_warp(dual_t sum) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, step);
    return sum;
}

// What the warp's lanes have seen of some terms.
struct Seen {
    dual_t sum = 0, least = none(), above_zero = 0;

    __device__ __forceinline__ void add(dual_t term) {
        const dual_t here = size_of(term);
        sum += term;
        if (here > 0) {
            least = here < least ? here : least;
            above_zero += 1;
        }
    }
    __device__ __forceinline__ void gather() {
        sum = over_warp(sum), above_zero = over_warp(above_zero);
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            const dual_t there = __shfl_xor_sync(FULL_WARP, least, step);
            least = there < least ? there : least;
        }
    }
};

// terms: two lines of (rows + columns,), of cost and of gap. sums: five lines of (blocks,): cost, gap, size of the row duals, the
// least size of the cost's terms above 0, and how many are.
extern "C" __global__ void auction_block_sums(
    int n_blocks, int n_rows, int n_cols, const int64* row_offsets, const int64* col_offsets, const dual_t* terms,
    const dual_t* row_duals, dual_t* sums
) {
    const int warp = global_thread() / 32, b = warp % n_blocks, line = warp / n_blocks;
    if (line >= 2) return;
    const dual_t* own = terms + line * ((int64)n_rows + n_cols);
    const int64 first_row = begin_of(row_offsets, b, n_blocks, n_rows);
    const int64 end_row = begin_of(row_offsets, b + 1, n_blocks, n_rows);
    const int64 end_col = begin_of(col_offsets, b + 1, n_blocks, n_cols);
    Seen seen;
    dual_t duals = 0;
    for (int64 i = first_row + lane(); i < end_row; i += 32) {
        seen.add(own[i]);
        if (line == 1) duals += size_of(row_duals[i]);
    }
    for (int64 j = begin_of(col_offsets, b, n_blocks, n_cols) + lane(); j < end_col; j += 32) seen.add(own[n_rows + j]);
    seen.gather();
    duals = over_warp(duals);
    if (lane() != 0) return;
    dual_t* out = sums + b;
    out[line * n_blocks] = seen.sum;
    if (line == 1) {
        out[2 * n_blocks] = duals;
        return;
    }
    out[3 * n_blocks] = seen.least;
    out[4 * n_blocks] = seen.above_zero;
}

// partner: (members,) counted over all blocks, -1 = none. offsets: (blocks + 1,) of the members and of their partners.
extern "C" __global__ void auction_local_partners(
    int n_members, int n_blocks, const int64* offsets, const int64* partner_offsets, const int* partner, int* local
) {
    const int i = global_thread();
    if (i >= n_members) return;
    int low = 0, high = n_blocks;  // the block is in [low, high)
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (offsets[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    local[i] = partner[i] == NO_MEMBER ? NO_MEMBER : (int)(partner[i] - partner_offsets[low]);
}
