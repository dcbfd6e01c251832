// The state of the trees that `paths/trees.cu` grows; see there.
#pragma once
#include "paths/parents.cuh"

__device__ __forceinline__ dual_t now(const dual_t* address) { return *(volatile const dual_t*)address; }
__device__ __forceinline__ int now(const int* address) { return *(volatile const int*)address; }

// The dual of a row: its bound, or its least c - v. NO_MEMBER: none. The whole warp takes part.
__device__ __forceinline__ dual_t dual_of(const Graph& graph, const dual_t* row_bound, const dual_t* v, int row) {
    return least_value<LANES>(graph, v, row, row == NO_MEMBER ? none() : row_bound[row]);
}

// So many rows that all lanes of a warp have one, or none.
__device__ __forceinline__ int64 whole_warps(int rows) {
    constexpr int rows_of_warp = 32 / LANES;
    return ((int64)rows + rows_of_warp - 1) / rows_of_warp * rows_of_warp;
}

struct Words {
    int queued[3];   // rows in the queue of a round, by round modulo 3
    int changed[3];  // whether a sweep lowered some Δ, by sweep modulo 3
    int n_reached, n_kept;
    int infeasible_row;  // a free row from which nothing can be reached, NO_SINK for none
    uint32 barrier;
    int searches, levels, sweeps;  // phases, rounds
    int64 rows_scanned, grow_ns, settle_ns, augment_ns;
};

struct Trees {
    Graph graph;
    int n_rows, n_cols;
    const dual_t* row_bound;
    dual_t* v;
    int* col_of_row;
    int* row_of_col;
    // (columns,): Δ at which it enters; key of its parent; round in which dist last fell; dist at which its row was last
    // expanded; root of its tree
    dual_t* dist;
    uint64* parent;
    int* lowered;
    dual_t* spread;
    int* root;
    int* reached;  // list of columns
    // (rows,): dual of this phase; of roots: the nearest sink known, Δ_t, the sink of the path; a row's ancestor
    dual_t* dual;
    dual_t* limit;
    dual_t* delta;
    int* sink;
    int* up;
    int* label;  // (2 * rows,) root, as it was known in a round, by parity
    Words* words;
};

// A row of a tree: its column (NO_MEMBER: a root), root, and the Δ at which it entered.
struct Member {
    int row, col, root;
    dual_t base;
};

// The k-th of the roots and then of the rows whose columns are reached; row NO_MEMBER where a reached column is free.
__device__ __forceinline__ Member member(const Trees& t, const int* sources, int n_sources, int64 k) {
    if (k < n_sources) return Member{sources[k], NO_MEMBER, sources[k], 0};
    const int col = t.reached[k - n_sources];
    return Member{t.row_of_col[col], col, t.root[col], t.dist[col]};
}

__device__ __forceinline__ bool is_expanded(const Trees& t, const Member& m) {
    return m.col == NO_MEMBER || t.spread[m.col] == m.base;
}

// The Δ at which a row becomes unassigned.
__device__ __forceinline__ dual_t unassigned_key(const Trees& t, const Member& m) {
    const dual_t bound = t.row_bound[m.row];
    return bound < none() ? m.base + (bound - t.dual[m.row]) : none();
}
