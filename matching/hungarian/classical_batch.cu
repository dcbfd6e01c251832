// Many small dense problems by the classical Hungarian method in dual phases, each by a block of its own.
//
// Source and steps as hungarian/classical.cu; what is left to a launch of its own there, the reduction (Algorithm 1 of Date &
// Nagi) and the first lists, is done by the block too. The arrays of all problems lie one after the other; what a problem has
// twice lies together.
//
// Bytes: 4 to 8 per pair, three times, then as hungarian/dual_phases.cuh. Hazards: as there; blocks share nothing.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#define ONE_BLOCK
#include "hungarian/places.cuh"
#include "hungarian/dual_phases.cuh"

#ifndef THREADS
#define THREADS 256
#endif

// col_dist, row_dist: zeros; these, slacks and members: null where no problem has sinks that must not be passed by.
// again: go on from v, r and the matching; else v, r are written and nothing is matched.
// Dynamic shared memory: 40 bytes a column and 60 a row of the largest problem.
extern "C" __global__ void __launch_bounds__(THREADS, THREADS > 256 ? 1 : 2) hungarian_classical_batch(
    const Place* places, int most_side, const cost_t* cost, const unsigned char* forbidden, const dual_t* row_bound,
    const dual_t* col_bound, int again, dual_t* v, dual_t* r, int* col_of_row, int* row_of_col,
    int capacity, int* list_cols, cost_t* list_costs, int* zeros, int most_zeros, dual_t* whole, int2* queue, int* free_rows,
    uint64* col_dist, uint64* row_dist, dual_t* slacks, int* members, Counts* counts
) {
    extern __shared__ uint64 room[];
    __shared__ Shared shared;
    const Place at = places[blockIdx.x];
    const int64 i0 = at.first_row, j0 = at.first_col;
    const int n = at.n_rows, m = at.n_cols;
    Column* const columns = (Column*)room;
    uint64* const claims = (uint64*)(columns + m);
    int2* const steps = (int2*)(claims + m);
    Row* const rows = (Row*)(steps + m);
    uint64* const sinks = (uint64*)(rows + n);
    int* const stamp = (int*)(sinks + n);
    const Costs costs{n, m, cost + at.first_cost, forbidden == nullptr ? nullptr : forbidden + at.first_cost, nullptr};
    const Lists lists{capacity, list_cols + i0 * capacity, list_costs + i0 * capacity};
    const Solve s{costs, row_bound == nullptr ? nullptr : row_bound + i0, row_bound != nullptr || n < m, v + j0, rows, columns, lists,
                  zeros + i0 * most_zeros, stamp + n, most_zeros, stamp, whole + i0, claims, steps, sinks, stamp + 2 * n,
                  queue + 2 * (int64)most_side * blockIdx.x, free_rows + 2 * i0, col_dist + j0, row_dist + i0, slacks + i0 * most_zeros,
                  members + i0, most_side, counts + blockIdx.x};
    r += i0, col_of_row += i0, row_of_col += j0;
    if (!again) reduce(costs, s.row_bound, col_bound + j0, s.v, r);
    for (int j = threadIdx.x; j < m; j += blockDim.x) claims[j] = NOTHING;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sinks[i] = NOTHING, stamp[i] = 0;
        if (r[i] >= none()) s.counts->infeasible_row = i;
        if (col_of_row[i] == FREE) s.free_rows[next_place(&s.counts->free_rows[0])] = i;
    }
    for (int i = threadIdx.x / 32; i < n; i += blockDim.x / 32) list_smallest(costs, s.v, lists, i, rows);
    __syncthreads();
    if (peek(&s.counts->infeasible_row) < 0) solve(s, the_block(), r, col_of_row, row_of_col, shared);
}
