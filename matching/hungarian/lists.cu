// The first lists of the classical Hungarian method: for every row its pairs with the smallest c - v.
//
// Threads: a warp takes a row. Bytes: 4 to 8 per pair, and 8 of the column's dual from the L2 cache. No hazards.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "hungarian/lists.cuh"

extern "C" __global__ void __launch_bounds__(256) hungarian_list_rows(int n_rows, int n_cols, const cost_t* cost,
                                                                       const unsigned char* forbidden, const dual_t* __restrict__ v,
                                                                       Row* rows, int capacity, int* list_cols, cost_t* list_costs) {
    const Costs costs{n_rows, n_cols, cost, forbidden, nullptr};
    for (int row = global_thread() / 32; row < n_rows; row += all_threads() / 32)
        list_smallest(costs, v, Lists{capacity, list_cols, list_costs}, row, rows);
}
