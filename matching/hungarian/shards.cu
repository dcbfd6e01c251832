// The certificate of a matching whose cost matrix is split over several GPUs: what each shard knows of it.
//
// What a matched edge costs is known to one device; the largest number over the devices (an all-reduce after the launch) is it.
//
// Threads: one a row for the matched edges, a warp a row for the certificate, which reads all pairs of the shard. Hazards: none.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

// What the matched edges in this shard cost. col_of_row, packed: (all rows,); packed begins below every dual.
extern "C" __global__ void hungarian_pack_matched_costs(int n_rows, int n_cols, int first_row, int first_col, const cost_t* cost,
                                                const int* col_of_row, dual_t* packed) {
    for (int i = global_thread(); i < n_rows; i += all_threads()) {
        const int j = col_of_row[first_row + i] - first_col;
        if (j >= 0 && j < n_cols) packed[first_row + i] = (dual_t)cost[(int64)i * n_cols + j];
    }
}

// The certificate of a shard: r_i = min(bound_i, min_j c_ij - v_j), and the largest number that went into it.
extern "C" __global__ void hungarian_certify_rows(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                  const dual_t* row_bound, const dual_t* v, dual_t* r, dual_t* terms) {
    for (int i = global_thread() / 32; i < n_rows; i += all_threads() / 32) {
        const int64 first = (int64)i * n_cols;
        dual_t mine = row_bound[i];
        int at = UNASSIGNED;
        for (int j = lane(); j < n_cols; j += 32) {
            if (forbidden != nullptr && forbidden[first + j]) continue;
            const dual_t value = (dual_t)cost[first + j] - v[j];
            if (value < mine) mine = value, at = j;
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            const dual_t there = __shfl_xor_sync(FULL_WARP, mine, step);
            const int at_there = __shfl_xor_sync(FULL_WARP, at, step);
            if (comes_before(there, at_there, mine, at)) mine = there, at = at_there;
        }
        if (lane() > 0) continue;
        dual_t largest = 0;
        if (at != UNASSIGNED) {
            const dual_t c = (dual_t)cost[first + at];
            largest = c < 0 ? -c : c;
            if (v[at] > largest) largest = v[at];
            if (-v[at] > largest) largest = -v[at];
        }
        r[i] = mine;
        terms[i] = largest;
    }
}
