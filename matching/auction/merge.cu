// Adds edges to a CSR graph: old and new edges of a row, both ascending, are merged by counting. LANES_OF_A_ROW lanes serve
// one row.
//
// Bytes: every edge read and written once; a row has few new ones, which all its lanes read. No two threads write
// one place.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int LANES_OF_A_ROW = 8;

// found_ends: (rows,) the number of new edges of all rows up to each. found_columns, found_costs: (rows, most) those of each
// row first, columns ascending, none of them in the graph. sum: (edges together,).
extern "C" __global__ void auction_merge(
    int n_rows, const int64* indptr, const int* indices, const cost_t* cost, int most, const int64* found_ends,
    const int* found_columns, const cost_t* found_costs, int64* sum_indptr, int* sum_indices, cost_t* sum_cost
) {
    const int row = global_thread() / LANES_OF_A_ROW, member = threadIdx.x % LANES_OF_A_ROW;
    if (row >= n_rows) return;
    const int64 begin = indptr[row], end = indptr[row + 1], before = row > 0 ? found_ends[row - 1] : 0;
    const int n_found = (int)(found_ends[row] - before);
    const int* columns = found_columns + row * (int64)most;
    const cost_t* costs = found_costs + row * (int64)most;
    if (member == 0) sum_indptr[row + 1] = end + found_ends[row];
    if (row == 0 && member == 0) sum_indptr[0] = 0;
    for (int64 e = begin + member; e < end; e += LANES_OF_A_ROW) {
        const int col = indices[e];
        int64 at = before + e;
        for (int k = 0; k < n_found && columns[k] < col; k++) at++;
        sum_indices[at] = col;
        sum_cost[at] = cost[e];
    }
    for (int k = member; k < n_found; k += LANES_OF_A_ROW) {
        int64 at = before + begin + k;
        for (int64 e = begin; e < end && indices[e] < columns[k]; e++) at++;
        sum_indices[at] = columns[k];
        sum_cost[at] = costs[k];
    }
}
