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

// added: (rows + 1,) where each row's new edges begin among them; sum: (edges together,).
extern "C" __global__ void auction_merge(
    int n_rows, const int64* indptr, const int* indices, const cost_t* cost, const int64* added, const int* new_indices,
    const cost_t* new_cost, int64* sum_indptr, int* sum_indices, cost_t* sum_cost
) {
    const int row = global_thread() / LANES_OF_A_ROW, member = threadIdx.x % LANES_OF_A_ROW;
    if (row >= n_rows) return;
    const int64 begin = indptr[row], end = indptr[row + 1], from = added[row], to = added[row + 1], here = begin + from;
    if (member == 0) sum_indptr[row + 1] = end + to;
    for (int64 e = begin + member; e < end; e += LANES_OF_A_ROW) {
        const int col = indices[e];
        int64 at = here + e - begin;
        for (int64 k = from; k < to && new_indices[k] < col; k++) at++;
        sum_indices[at] = col;
        sum_cost[at] = cost[e];
    }
    for (int64 k = from + member; k < to; k += LANES_OF_A_ROW) {
        int64 at = here + k - from;
        for (int64 e = begin; e < end && indices[e] < new_indices[k]; e++) at++;
        sum_indices[at] = new_indices[k];
        sum_cost[at] = new_cost[k];
    }
}
