// The classical Hungarian method for dense costs, whole, in one cooperative launch.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), section 2.2: keep the pairs of zero slack, augment along them as far as possible, change the duals by the least
// uncovered slack, list again. Ours is how that is done (hungarian/dual_phases.cuh); `papers/date_nagi_2016/zero_graph.py` does
// the same on the CPU.
//
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "hungarian/dual_phases.cuh"

#ifndef THREADS
#define THREADS 1024
#endif

// rows: beyond and listed are set. r, v: reduced. free_rows: the first of its two lists holds counts->free_rows[0] rows.
// claims, sinks: all NOTHING. stamp, col_dist, row_dist: zeros. row_bound: null when no row may stay unassigned. col_dist, row_dist, slacks,
// members: null unless is_bounded.
extern "C" __global__ void __launch_bounds__(THREADS, 1) hungarian_classical(
    int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden, const int64* origins, const dual_t* row_bound,
    int is_bounded, dual_t* v, dual_t* r, int* col_of_row, int* row_of_col, Row* rows, Column* columns, int capacity, int* list_cols,
    cost_t* list_costs, int* zeros, int* n_zeros, int most_zeros, int* stamp, dual_t* whole, uint64* claims, int2* steps, uint64* sinks,
    int* roots, int2* queue, int* free_rows, uint64* col_dist, uint64* row_dist, dual_t* slacks, int* members, Counts* counts
) {
    __shared__ Shared shared;
    const Solve s{Costs{n_rows, n_cols, cost, forbidden, origins}, row_bound, is_bounded, v, rows, columns,
                  Lists{capacity, list_cols, list_costs}, zeros, n_zeros, most_zeros, stamp, whole, claims, steps, sinks, roots,
                  queue, free_rows, col_dist, row_dist, slacks, members, max(n_rows, n_cols), counts};
    solve(s, the_grid(), r, col_of_row, row_of_col, shared);
}
