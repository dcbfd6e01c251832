// Which pairs of dense costs may be matched: how many of each row and of each column, and lists of some or of all.
//
//   auction_allowed_rows     a warp a row: the number of its allowed pairs;
//   auction_allowed_columns  a thread a column and part of the rows, neighbours side by side: the number of its allowed pairs;
//   auction_allowed_list     a warp a row: of its allowed pairs as many as the list has room for, evenly spread.
//
// Bytes: the matrix once per kernel, and what is listed. Only counts of columns are added up with atomics.
// variant: -DDENSE
// variant: -DDENSE -DCOST=double
// variant: -DDENSE -DINTEGER -DCOST=int
// variant: -DDENSE -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int THREADS = 256;

extern "C" __global__ void __launch_bounds__(THREADS) auction_allowed_rows(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows, int64* counts
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = global_thread() / 32;
    if (row >= n_rows) return;
    const int64 first = (int64)row * width;
    int count = 0;
    for (int e = lane(); e < width; e += 32) count += graph.cost_of(first, e) < none();
#pragma unroll
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(FULL_WARP, count, step);
    if (lane() == 0) counts[row] = count;
}

// Thread t of `n_parts` × columns counts column t % columns in the part t / columns of its matrix's rows. counts: zeros.
extern "C" __global__ void __launch_bounds__(THREADS) auction_allowed_columns(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows, int n_parts, int* counts
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int64 thread = blockIdx.x * (int64)blockDim.x + threadIdx.x;
    if (thread >= (int64)n_parts * n_cols) return;
    const int col = (int)(thread % n_cols), edge = col % width;
    const int64 part = thread / n_cols, above = (int64)(col / width) * block_rows;
    int count = 0;
    for (int64 row = above + block_rows * part / n_parts; row < above + block_rows * (part + 1) / n_parts; row++)
        count += graph.cost_of(row * width, edge) < none();
    if (count > 0) atomicAdd(&counts[col], count);
}

// counts: (rows,) from auction_allowed_rows; listed: (rows + 1,) where each row's list begins, no longer than its count.
// Entry k of a list of t is allowed pair (k d + s) / t of the row's d; s, in [0, d), is spread over the rows, so that
// rows with the same pairs allowed list different ones.
extern "C" __global__ void __launch_bounds__(THREADS) auction_allowed_list(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows, const int64* counts, const int64* listed, int* columns
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = global_thread() / 32;
    if (row >= n_rows) return;
    const int64 first = (int64)row * width, begin = listed[row];
    const uint64 d = counts[row], t = listed[row + 1] - begin;
    const uint64 s = ((uint64)((uint32)row * 2654435769u) * d) >> 32;
    uint64 seen = 0;
    for (int tile = 0; tile < width && seen < d; tile += 32) {
        const int e = tile + lane();
        const bool allowed = e < width && graph.cost_of(first, e) < none();
        const uint32 ballot = __ballot_sync(FULL_WARP, allowed);
        const uint64 rank = seen + __popc(ballot & lanes_below());
        if (allowed) {
            const uint64 k = rank * t > s ? (rank * t - s + d - 1) / d : 0;  // the first entry at this rank or beyond
            if (k < t && (k * d + s) / t == rank) columns[begin + k] = graph.column(first, e);
        }
        seen += __popc(ballot);
    }
}
