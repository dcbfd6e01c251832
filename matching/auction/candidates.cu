// From a cost matrix to a sparse graph and back: the cheapest pairs of every row and column, and the check of all
// pairs.
//
// "Solve sparse, certify dense": the graph of cheapest pairs is solved exactly, then every pair of the matrix is
// checked against its prices, the pairs that violate them join the graph, and it is solved again, until none does.
//
//   auction_row_limit      a block a row: its threads' minima, and of these the `rank`-th smallest: at least `rank` pairs of
//                          the row cost no more, and seldom many more;
//   auction_column_minima, auction_column_limit   the same for columns, by chunks of rows, so that reading stays coalesced;
//   auction_count_candidates, auction_list_candidates   a warp a row: the pairs within either limit, ascending, at most `most`;
//   auction_violations     a warp a row: pairs with c - v_j < r_i, the worst of every SHARE lanes' share.
//
// Bytes: the matrix once per kernel, columns' minima 256 values a column. No two threads write the same place, but for
// the number of pairs that auction_violations found.
// variant: -DDENSE
// variant: -DDENSE -DCOST=double
// variant: -DDENSE -DINTEGER -DCOST=int
// variant: -DDENSE -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int THREADS = 256;

constexpr int WARPS = THREADS / 32;
constexpr int OFFERS = 4, SHARE = 32 / OFFERS;

__device__ __forceinline__ dual_t lesser(dual_t a, dual_t b) { return b < a ? b : a; }
__device__ __forceinline__ dual_t greater(dual_t a, dual_t b) { return b < a ? a : b; }

// A bitonic network (K. E. Batcher, "Sorting networks and their applications", AFIPS 1968): lanes hold values that rise
// and then fall, or the like; on return they ascend, or descend.
__device__ __forceinline__ dual_t merged_in_warp(dual_t x, int size, bool ascends) {
    for (int step = size / 2; step > 0; step /= 2) {
        const dual_t other = __shfl_xor_sync(FULL_WARP, x, step);
        x = ((lane() & step) == 0) == ascends ? lesser(x, other) : greater(x, other);
    }
    return x;
}

// The rank-th smallest, rank <= 32, of the block's values that are not none(), or the largest of them if there are
// fewer: warps sort theirs, then in pairs keep the 32 smallest of both.
__device__ void write_ranked(dual_t mine, int rank, dual_t* out) {
    __shared__ dual_t values[THREADS];
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) mine = merged_in_warp(mine, size, (lane() & size) == 0);
    for (int step = 1; step < WARPS; step *= 2) {
        values[threadIdx.x] = mine;
        __syncthreads();
        if (warp % (2 * step) == 0)
            mine = merged_in_warp(lesser(mine, values[(warp + step) * 32 + 31 - lane()]), 32, true);
        __syncthreads();
    }
    if (warp != 0) return;
    const int known = __popc(__ballot_sync(FULL_WARP, mine < none()));
    if (lane() == (known == 0 ? 0 : (rank < known ? rank : known) - 1)) *out = mine;
}

extern "C" __global__ void __launch_bounds__(THREADS) auction_row_limit(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    int rank, dual_t* row_limit
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = blockIdx.x;
    const int64 first = graph.first(row);
    dual_t least = none();
    for (int e = threadIdx.x; e < graph.degree(row); e += THREADS) {
        const dual_t c = graph.cost_of(first, e);
        if (c < least) least = c;
    }
    write_ranked(least, rank, &row_limit[row]);
}

// A block for each THREADS columns, then each of THREADS parts of the rows, then each matrix: minima[g * columns + col]
// = least cost of col among the g-th part of its rows.
extern "C" __global__ void __launch_bounds__(THREADS) auction_column_minima(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    dual_t* minima
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int tiles = (width + THREADS - 1) / THREADS, edge = blockIdx.x % tiles * THREADS + threadIdx.x;
    if (edge >= width) return;
    const int part = blockIdx.x / tiles % THREADS, matrix = blockIdx.x / tiles / THREADS;
    const int64 above = (int64)matrix * block_rows;
    const int64 from = above + (int64)block_rows * part / THREADS;
    const int64 to = above + (int64)block_rows * (part + 1) / THREADS;
    dual_t least = none();
    for (int64 row = from; row < to; row++) {
        const dual_t c = graph.cost_of(row * width, edge);
        if (c < least) least = c;
    }
    minima[part * (int64)n_cols + (int64)matrix * width + edge] = least;
}

extern "C" __global__ void __launch_bounds__(THREADS) auction_column_limit(
    int n_cols, const dual_t* minima, int rank, dual_t* col_limit
) {
    write_ranked(minima[threadIdx.x * (int64)n_cols + blockIdx.x], rank, &col_limit[blockIdx.x]);
}

__device__ __forceinline__ bool is_candidate(dual_t c, dual_t row_limit, dual_t col_limit) {
    return c < none() && (c <= row_limit || c <= col_limit);
}

extern "C" __global__ void __launch_bounds__(THREADS) auction_count_candidates(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    const dual_t* row_limit, const dual_t* col_limit, int most, int64* counts
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = global_thread() / 32;
    if (row >= n_rows) return;
    const int64 first = graph.first(row);
    const dual_t limit = row_limit[row];
    int count = 0;
    for (int e = lane(); e < width; e += 32)
        count += is_candidate(graph.cost_of(first, e), limit, col_limit[graph.column(first, e)]);
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(FULL_WARP, count, step);
    if (lane() == 0) counts[row] = count < most ? count : most;
}

extern "C" __global__ void __launch_bounds__(THREADS) auction_list_candidates(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    const dual_t* row_limit, const dual_t* col_limit, const int64* listed, int* columns, cost_t* costs
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = global_thread() / 32;
    if (row >= n_rows) return;
    const int64 first = graph.first(row), end = listed[row + 1];
    const dual_t limit = row_limit[row];
    int64 base = listed[row];
    for (int tile = 0; tile < width && base < end; tile += 32) {
        const int e = tile + lane();
        const bool takes = e < width && is_candidate(graph.cost_of(first, e), limit, col_limit[graph.column(first, e)]);
        const uint32 ballot = __ballot_sync(FULL_WARP, takes);
        const int64 at = base + __popc(ballot & lanes_below());
        if (takes && at < end) columns[at] = graph.column(first, e), costs[at] = cost[first + e];
        base += __popc(ballot);
    }
}

// number: (rows,) pairs found; columns, costs: (rows, OFFERS) those of each row first, columns ascending. *n_found: 0 at the
// start, or on return how many were found in all.
extern "C" __global__ void __launch_bounds__(THREADS) auction_violations(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    const dual_t* v, const dual_t* row_duals, int* number, int* columns, cost_t* costs, int* n_found
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = global_thread() / 32;
    if (row >= n_rows) return;
    const int64 first = graph.first(row);
    dual_t worst = row_duals[row];
    int edge = NO_EDGE;
    for (int e = lane(); e < width; e += 32) {
        const dual_t value = graph.value(first, e, v);
        if (value < worst) worst = value, edge = e;
    }
#pragma unroll
    for (int step = SHARE / 2; step > 0; step /= 2) {
        const dual_t there = __shfl_xor_sync(FULL_WARP, worst, step);
        const int edge_there = __shfl_xor_sync(FULL_WARP, edge, step);
        if (comes_before(there, edge_there, worst, edge)) worst = there, edge = edge_there;
    }
    const bool offers = lane() % SHARE == 0 && edge != NO_EDGE;
    const uint32 ballot = __ballot_sync(FULL_WARP, offers);
    int place = 0;
    for (int k = 0; k < 32; k += SHARE) {
        const int edge_there = __shfl_sync(FULL_WARP, edge, k);
        place += (ballot >> k & 1u) && edge_there < edge;
    }
    if (offers) {
        columns[row * (int64)OFFERS + place] = graph.column(first, edge);
        costs[row * (int64)OFFERS + place] = cost[first + edge];
    }
    if (lane() == 0) {
        number[row] = __popc(ballot);
        if (ballot != 0) atomicAdd(n_found, __popc(ballot));
    }
}
