// What the shards of a cost matrix on several GPUs exchange between the steps of papers/date_nagi_2016/steps.cu.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), section 5: the frontier of a level is gathered and handed out, the least slack is reduced, predecessors go to the
// root. Here every device gets the union of all: each of these arrays holds -1 where a device has nothing to say, and their
// maximum over the devices (an all-reduce between the launches) is what all of them say.
//
// Threads: one a row or column, one block for what is reduced. Bytes: 4 to 20 per row and column. Hazards: none; the order of
// a frontier is that of atomics and may differ between devices.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

enum : unsigned char { INACTIVE, ACTIVE, VISITED, REVERSE };

// Rows that this shard's columns woke: the column that each was reached by, counted over all shards.
extern "C" __global__ void hungarian_pack_rows(int n_rows, int first_col, const unsigned char* row_mark, const int* row_pred, int* packed) {
    for (int i = global_thread(); i < n_rows; i += all_threads()) packed[i] = row_mark[i] == ACTIVE ? row_pred[i] + first_col : -1;
}

// The rows that any shard woke are the next frontier of all. n_frontier starts at 0.
extern "C" __global__ void hungarian_unpack_rows(int n_rows, dual_t delta, const int* packed, int* row_pred, unsigned char* row_covered,
                                               dual_t* entered, unsigned char* row_mark, int* frontier, int* n_frontier) {
    for (int i = global_thread(); i < n_rows; i += all_threads()) {
        if (packed[i] < 0) continue;
        row_pred[i] = packed[i];
        row_covered[i] = 0;
        entered[i] = delta;
        row_mark[i] = VISITED;
        frontier[next_place(n_frontier)] = i;
    }
}

// reduced_keys[0] = the least Δ at which a column of this shard enters or a row becomes unassigned; reduced_keys[1] = 0 if a sink is found, else 1.
// One block of 1024 threads.
extern "C" __global__ void hungarian_reduce(int n_rows, int n_cols, const dual_t* row_bound, const dual_t* r, const dual_t* entered,
                                             const unsigned char* row_mark, const unsigned char* unassigned, const dual_t* key,
                                             const unsigned char* col_covered, const unsigned char* col_mark, dual_t* reduced_keys) {
    __shared__ dual_t of_warp[32];
    dual_t least = none();
    bool found_sink = false;
    for (int i = threadIdx.x; i < n_rows; i += blockDim.x) {
        found_sink |= unassigned[i] == REVERSE;
        if (row_mark[i] != VISITED || unassigned[i] || row_bound[i] >= none()) continue;
        const dual_t there = entered[i] + (row_bound[i] - r[i]);
        if (there < least) least = there;
    }
    for (int j = threadIdx.x; j < n_cols; j += blockDim.x) {
        found_sink |= col_mark[j] == REVERSE;
        if (!col_covered[j] && key[j] < least) least = key[j];
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const dual_t there = __shfl_xor_sync(FULL_WARP, least, step);
        if (there < least) least = there;
    }
    if (lane() == 0) of_warp[threadIdx.x / 32] = least;
    found_sink = __syncthreads_or(found_sink);
    if (threadIdx.x > 0) return;
    for (int w = 1; w < blockDim.x / 32; ++w)
        if (of_warp[w] < least) least = of_warp[w];
    reduced_keys[0] = least;
    reduced_keys[1] = found_sink ? 0 : 1;
}

// Predecessors of this shard's columns for the root: 2 * predecessor, + 1 where it is a sink. packed: (all columns,), all -1.
extern "C" __global__ void hungarian_pack_columns(int n_cols, int first_col, const int* col_pred, const unsigned char* col_mark, int* packed) {
    for (int j = global_thread(); j < n_cols; j += all_threads())
        if (col_pred[j] >= 0) packed[first_col + j] = 2 * col_pred[j] + (col_mark[j] == REVERSE);
}
