// What a batch needs beside the certificate of all its blocks together: sums for each, and partners counted within each. A
// problem by itself is cut into parts, whose sums the host adds up.
//
//   auction_block_sums      a warp a block and sum, in one order on every run
//   auction_local_partners  a thread a row, or a column
//
// Bytes: 16 per row and column read for the sums, 8 read and written for partners. No two threads write one place.
// variant: -DINTEGER -DCOST=int
#include "problem/graph.cuh"

// Where block b begins; without offsets, members are cut into as many parts as there are blocks.
__device__ __forceinline__ int64 begin_of(const int64* offsets, int b, int n_blocks, int n_members) {
    return offsets == nullptr ? b * (int64)n_members / n_blocks : offsets[b];
}

// terms: two lines of (rows + columns,); sums: (2, blocks).
extern "C" __global__ void auction_block_sums(
    int n_blocks, int n_rows, int n_cols, const int64* row_offsets, const int64* col_offsets, const price_t* terms,
    price_t* sums
) {
    const int warp = global_thread() / 32, b = warp % n_blocks;
    if (warp >= 2 * n_blocks) return;
    const price_t* line = terms + (warp / n_blocks) * ((int64)n_rows + n_cols);
    price_t sum = 0;
    const int64 end_row = begin_of(row_offsets, b + 1, n_blocks, n_rows);
    const int64 end_col = begin_of(col_offsets, b + 1, n_blocks, n_cols);
    for (int64 i = begin_of(row_offsets, b, n_blocks, n_rows) + lane(); i < end_row; i += 32) sum += line[i];
    for (int64 j = begin_of(col_offsets, b, n_blocks, n_cols) + lane(); j < end_col; j += 32) sum += line[n_rows + j];
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, step);
    if (lane() == 0) sums[warp] = sum;
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
    local[i] = partner[i] == NOBODY ? NOBODY : (int)(partner[i] - partner_offsets[low]);
}
