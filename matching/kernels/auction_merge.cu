// Adds edges to a CSR graph: old and new edges of a row, both ascending, are merged by counting. LANES lanes serve
// one row.
//
// Bytes: every edge read and written once; a row has few new ones, which all its lanes read. No two threads write
// one place.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "auction.cuh"

constexpr int LANES_OF_A_ROW = 8;

// The number of pairs below `limit`.
__device__ __forceinline__ int64 pairs_below(const int64* pairs, int64 n_pairs, int64 limit) {
    int64 low = 0, high = n_pairs;
    while (low < high) {
        const int64 middle = (low + high) / 2;
        if (pairs[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// pairs: (n_pairs,) the new edges, row * columns + column, ascending, none of them there; sum: (edges together,).
extern "C" __global__ void auction_merge(
    int n_rows, int64 n_cols, const int64* indptr, const int* indices, const cost_t* cost, int64 n_pairs,
    const int64* pairs, const cost_t* new_cost, int64* sum_indptr, int* sum_indices, cost_t* sum_cost
) {
    const int row = global_thread() / LANES_OF_A_ROW, member = threadIdx.x % LANES_OF_A_ROW;
    if (row >= n_rows) return;
    const int64 before = row * n_cols, begin = indptr[row], end = indptr[row + 1];
    const int64 from = pairs_below(pairs, n_pairs, before), to = pairs_below(pairs, n_pairs, before + n_cols);
    const int64 here = begin + from;
    if (member == 0) sum_indptr[row + 1] = end + to;
    if (row == 0 && member == 0) sum_indptr[0] = 0;
    for (int64 e = begin + member; e < end; e += LANES_OF_A_ROW) {
        const int col = indices[e];
        int64 at = here + e - begin;
        for (int64 k = from; k < to && pairs[k] - before < col; k++) at++;
        sum_indices[at] = col;
        sum_cost[at] = cost[e];
    }
    for (int64 k = from + member; k < to; k += LANES_OF_A_ROW) {
        const int col = (int)(pairs[k] - before);
        int64 at = here + k - from;
        for (int64 e = begin; e < end && indices[e] < col; e++) at++;
        sum_indices[at] = col;
        sum_cost[at] = new_cost[k];
    }
}
