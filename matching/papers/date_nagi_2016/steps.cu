// The Hungarian method for dense costs step by step, one launch a step: Date & Nagi's Algorithms 2 to 9.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016). Algorithm 1 is paths/reduce.cu. Names are the paper's: covers V, predecessors P, successors S. Changes, as
// `matching/hungarian/__init__.py` states them: no θ/2; duals stay as they are during a search, and the dual change Δ at which
// a row entered (`entered`) or a column's slack is zero (`key`) is kept instead; a column whose slack became zero enters at
// once (Algorithm 9 marks its predecessor "active" again). In Algorithm 9 the paper writes slack[j] where j is undefined: it
// is k. Row i that becomes unassigned at its bound is a sink, written n_cols + i.
//
// Threads: one a row (2, 6, 8), one a row of the frontier (3), one a column (4, 9), one a sink (5), a warp a row (7 and
// the compression). Bytes: 4 to 8 per pair looked at, one row of the frontier at a time in 4.
// Hazards: in 3, rows of one level race for a column's predecessor, in 5, sinks of one tree for a row's successor; any outcome
// is a valid tree and a valid path, so the cost is guaranteed and the matched edges are not.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int FREE = -1, LEFT_UNASSIGNED = -2;
enum : unsigned char { INACTIVE, ACTIVE, VISITED, REVERSE };

struct Duals {
    int n_rows, n_cols;
    const cost_t* __restrict__ cost;
    const unsigned char* __restrict__ forbidden;  // or null
    const dual_t* __restrict__ row_bound;
    const dual_t* __restrict__ v;
    const dual_t* __restrict__ r;

    // The Δ at which the slack of the pair is zero, for a row that entered at `entered`.
    __device__ __forceinline__ dual_t key(int i, int j, dual_t entered) const {
        const int64 at = (int64)i * n_cols + j;
        if (forbidden != nullptr && forbidden[at]) return none();
        const dual_t c = (dual_t)cost[at];
        if (c >= none()) return none();
        const dual_t slack = c - v[j] - r[i];
        return entered + (slack > 0 ? slack : dual_t(0));
    }
    __device__ __forceinline__ dual_t unassigned_key(int i, dual_t entered) const {
        return row_bound[i] < none() ? entered + (row_bound[i] - r[i]) : none();
    }
};

// Algorithm 2.
extern "C" __global__ void hungarian_optimality_check(int n_rows, const int* col_of_row, unsigned char* row_covered, int* match_count) {
    const int i = global_thread();
    const bool matched = i < n_rows && col_of_row[i] != FREE;
    if (i < n_rows) row_covered[i] = matched;
    const uint32 ballot = __ballot_sync(FULL_WARP, matched);
    if (lane() == 0 && ballot) atomicAdd(match_count, __popc(ballot));
}

// Section 3.3, the predicate summed over each row: a covered row would enter at the present Δ.
extern "C" __global__ void hungarian_count_zeros(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                 const dual_t* row_bound, const dual_t* v, const dual_t* r, dual_t delta,
                                                 const dual_t* entered, const unsigned char* row_covered,
                                                 const unsigned char* col_covered, int64* count) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int i = global_thread() / 32; i < n_rows; i += all_threads() / 32) {
        const dual_t since = row_covered[i] ? delta : entered[i];
        int found = 0;
        for (int j = lane(); j < n_cols; j += 32) found += !col_covered[j] && duals.key(i, j, since) <= delta;
#pragma unroll
        for (int step = 16; step > 0; step /= 2) found += __shfl_xor_sync(FULL_WARP, found, step);
        if (lane() == 0) count[i] = found;
    }
}

// Section 3.3, the scatter: first (rows + 1,) are the sums of the counts before each row.
extern "C" __global__ void hungarian_list_zeros(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                const dual_t* row_bound, const dual_t* v, const dual_t* r, dual_t delta,
                                                const dual_t* entered, const unsigned char* row_covered,
                                                const unsigned char* col_covered, const int64* first, int* zeros) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int i = global_thread() / 32; i < n_rows; i += all_threads() / 32) {
        const dual_t since = row_covered[i] ? delta : entered[i];
        int64 at = first[i];
        for (int base = 0; base < n_cols; base += 32) {
            const int j = base + lane();
            const bool zero = j < n_cols && !col_covered[j] && duals.key(i, j, since) <= delta;
            const uint32 ballot = __ballot_sync(FULL_WARP, zero);
            if (zero) zeros[at + __popc(ballot & lanes_below())] = j;
            at += __popc(ballot);
        }
    }
}

// Rows of the frontier that are at their bound are sinks.
__device__ __forceinline__ void mark_sink(const Duals& duals, int i, dual_t entered, dual_t delta, unsigned char* unassigned) {
    if (!unassigned[i] && duals.unassigned_key(i, entered) <= delta) unassigned[i] = REVERSE;
}

// Algorithm 3.
extern "C" __global__ void hungarian_expand_zeros(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                  const dual_t* row_bound, const dual_t* v, const dual_t* r, dual_t delta,
                                                  const int* frontier, int n_frontier, const int64* first, const int* zeros,
                                                  const int* row_of_col, int* row_pred, int* col_pred, unsigned char* row_covered,
                                                  unsigned char* col_covered, dual_t* entered, dual_t* key, unsigned char* row_mark,
                                                  unsigned char* col_mark, unsigned char* unassigned) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int q = global_thread(); q < n_frontier; q += all_threads()) {
        const int i = frontier[q];
        for (int64 e = first[i]; e < first[i + 1]; ++e) {
            const int j = zeros[e];
            if (col_covered[j]) continue;
            const int i_new = row_of_col[j];
            if (i_new == i) continue;
            col_pred[j] = i;
            if (i_new == FREE) {
                col_mark[j] = REVERSE;
                continue;
            }
            row_pred[i_new] = j;
            row_covered[i_new] = 0;
            entered[i_new] = delta;
            key[j] = delta;
            col_covered[j] = 1;
            if (row_mark[i_new] != VISITED) row_mark[i_new] = ACTIVE;
        }
        mark_sink(duals, i, entered[i], delta, unassigned);
        row_mark[i] = VISITED;
    }
}

// What a column of zero slack does: it is a sink, or covers itself and wakes the row that it is matched with.
__device__ __forceinline__ void enter(int j, dual_t delta, const int* row_of_col, int* row_pred, unsigned char* row_covered,
                                      unsigned char* col_covered, dual_t* entered, unsigned char* row_mark, unsigned char* col_mark) {
    const int i_new = row_of_col[j];
    if (i_new == FREE) {
        col_mark[j] = REVERSE;
        return;
    }
    row_pred[i_new] = j;
    row_covered[i_new] = 0;
    entered[i_new] = delta;
    col_covered[j] = 1;
    row_mark[i_new] = ACTIVE;
}

// Algorithm 4. The rows of the frontier have been taken out of `row_mark` before.
extern "C" __global__ void hungarian_expand_tree(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                 const dual_t* row_bound, const dual_t* v, const dual_t* r, dual_t delta,
                                                 const int* frontier, int n_frontier, const int* row_of_col, int* row_pred,
                                                 int* col_pred, unsigned char* row_covered, unsigned char* col_covered, dual_t* entered,
                                                 dual_t* key, unsigned char* row_mark, unsigned char* col_mark, unsigned char* unassigned) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int j = global_thread(); j < n_cols; j += all_threads()) {
        if (col_covered[j]) continue;
        dual_t least = key[j];
        int from = FREE;
        for (int q = 0; q < n_frontier; ++q) {
            const dual_t there = duals.key(frontier[q], j, delta);
            if (there < least) least = there, from = frontier[q];
        }
        if (from == FREE) continue;
        key[j] = least;
        col_pred[j] = from;
        if (least <= delta) enter(j, delta, row_of_col, row_pred, row_covered, col_covered, entered, row_mark, col_mark);
    }
    for (int q = global_thread(); q < n_frontier; q += all_threads()) mark_sink(duals, frontier[q], delta, delta, unassigned);
}

// Algorithm 5: `sinks` are columns, or n_cols + i for a row that becomes unassigned.
extern "C" __global__ void hungarian_reverse(int n_cols, const int* sinks, int n_sinks, const int* row_pred, const int* col_pred,
                                             int* row_next, int* col_next, unsigned char* starts) {
    for (int q = global_thread(); q < n_sinks; q += all_threads()) {
        int row = FREE, col = sinks[q];
        if (col >= n_cols) {
            row = col - n_cols;
            row_next[row] = LEFT_UNASSIGNED;
            col = row_pred[row];
        }
        while (col != FREE) {
            col_next[col] = row;
            row = col_pred[col];
            row_next[row] = col;
            col = row_pred[row];
        }
        starts[row] = 1;
    }
}

// Algorithm 6.
extern "C" __global__ void hungarian_augment(const int* starts, int n_starts, const int* row_next, const int* col_next, int* col_of_row,
                                             int* row_of_col) {
    for (int q = global_thread(); q < n_starts; q += all_threads()) {
        int row = starts[q];
        while (row != FREE) {
            const int col = row_next[row];
            col_of_row[row] = col;
            if (col == LEFT_UNASSIGNED) break;
            row_of_col[col] = row;
            row = col_next[col];
        }
    }
}

// Algorithm 7: the least Δ of each row at which it gets a pair of zero slack or becomes unassigned; `none` for covered rows.
extern "C" __global__ void hungarian_least_uncovered(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                     const dual_t* row_bound, const dual_t* v, const dual_t* r,
                                                     const dual_t* entered, const unsigned char* row_covered,
                                                     const unsigned char* col_covered, dual_t* least) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int i = global_thread() / 32; i < n_rows; i += all_threads() / 32) {
        dual_t mine = none();
        if (!row_covered[i]) {
            mine = duals.unassigned_key(i, entered[i]);
            for (int j = lane(); j < n_cols; j += 32) {
                const dual_t key = col_covered[j] ? none() : duals.key(i, j, entered[i]);
                if (key < mine) mine = key;
            }
#pragma unroll
            for (int step = 16; step > 0; step /= 2) {
                const dual_t there = __shfl_xor_sync(FULL_WARP, mine, step);
                if (there < mine) mine = there;
            }
        }
        if (lane() == 0) least[i] = mine;
    }
}

// Algorithm 9: Δ has risen to the least key; columns whose slack is zero now enter, rows at their bound are sinks.
extern "C" __global__ void hungarian_enter(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                           const dual_t* row_bound, const dual_t* v, const dual_t* r, dual_t delta,
                                           const int* row_of_col, int* row_pred, unsigned char* row_covered, unsigned char* col_covered,
                                           dual_t* entered, const dual_t* key, unsigned char* row_mark, unsigned char* col_mark,
                                           unsigned char* unassigned) {
    const Duals duals{n_rows, n_cols, cost, forbidden, row_bound, v, r};
    for (int i = global_thread(); i < n_rows; i += all_threads())
        if (row_mark[i] == VISITED) mark_sink(duals, i, entered[i], delta, unassigned);
    for (int j = global_thread(); j < n_cols; j += all_threads())
        if (!col_covered[j] && key[j] <= delta)
            enter(j, delta, row_of_col, row_pred, row_covered, col_covered, entered, row_mark, col_mark);
}

// Algorithm 8, and what 9 says of duals: covered columns fall by Δ since they entered; roots, which entered at 0, rise by Δ.
extern "C" __global__ void hungarian_update_duals(int n_rows, int n_cols, dual_t delta, const int* col_of_row,
                                                  const unsigned char* col_covered, const dual_t* key, dual_t* v, dual_t* r) {
    for (int j = global_thread(); j < n_cols; j += all_threads())
        if (col_covered[j]) v[j] -= delta - key[j];
    for (int i = global_thread(); i < n_rows; i += all_threads())
        if (col_of_row[i] == FREE) r[i] += delta;
}

// After the augmentation: a matched row's dual is what its matched edge leaves.
extern "C" __global__ void hungarian_remove_slack(int n_cols, const cost_t* cost, const dual_t* v, const int* row_of_col, dual_t* r) {
    for (int j = global_thread(); j < n_cols; j += all_threads()) {
        const int i = row_of_col[j];
        if (i != FREE) r[i] = (dual_t)cost[(int64)i * n_cols + j] - v[j];
    }
}
