// Many small dense problems by the classical Hungarian method in stages, each by a block of its own.
//
// Source and steps as hungarian_classical.cu; what is left to a launch of its own there, the reduction (Algorithm 1 of Date &
// Nagi) and the first lists, is done by the block too. The arrays of all problems lie one after the other; what a problem has
// twice lies together.
//
// Bytes: 4 to 8 per pair, three times, then as hungarian_stages.cuh. Hazards: as there; blocks share nothing.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "hungarian_places.cuh"
#include "hungarian_stages.cuh"

#ifndef THREADS
#define THREADS 256
#endif

// again: go on from v and the matching, once loose links are undone; else v, r are written and nothing is matched.
extern "C" __global__ void __launch_bounds__(THREADS, 2) hungarian_classical_batch(
    const Place* places, int most_side, const cost_t* cost, const unsigned char* forbidden, const price_t* row_bound,
    const price_t* col_bound, int again, price_t loose, price_t* v, price_t* r, int* col_of_row, int* row_of_col, Row* rows,
    Column* columns, int* list_cols, cost_t* list_costs, int* zeros, int* n_zeros, int* stamp, price_t* whole, uint64* claims,
    uint64* ends, int* roots, int2* queue, int* free_rows, Counts* counts
) {
    __shared__ Shared shared;
    const Place at = places[blockIdx.x];
    const int64 i0 = at.first_row, j0 = at.first_col;
    const Costs costs{at.n_rows, at.n_cols, cost + at.first_cost, forbidden == nullptr ? nullptr : forbidden + at.first_cost, nullptr};
    const Solve s{costs, row_bound == nullptr ? nullptr : row_bound + i0, row_bound != nullptr || at.n_rows < at.n_cols, v + j0,
                  rows + i0, columns + j0, Lists{list_cols + i0 * CAPACITY, list_costs + i0 * CAPACITY}, zeros + i0 * ZEROS,
                  n_zeros + i0, stamp + i0, whole + i0, claims + 2 * j0, ends + i0, roots + i0,
                  queue + 2 * (int64)most_side * blockIdx.x, free_rows + 2 * i0, most_side, counts + blockIdx.x};
    r += i0, col_of_row += i0, row_of_col += j0;
    if (again) release_loose(costs, s.row_bound, s.v, r, col_of_row, row_of_col, loose);
    else reduce(costs, s.row_bound, col_bound + j0, s.v, r);
    for (int i = threadIdx.x; i < at.n_rows; i += blockDim.x) {
        if (r[i] >= none()) s.counts->stuck = i;
        if (col_of_row[i] == FREE) s.free_rows[next_place(&s.counts->free_rows[0])] = i;
    }
    for (int i = threadIdx.x / 32; i < at.n_rows; i += blockDim.x / 32) list_smallest(costs, s.v, s.lists, i, s.rows);
    __syncthreads();
    if (load_fresh(&s.counts->stuck) < 0) solve(s, the_block(), r, col_of_row, row_of_col, shared);
}
