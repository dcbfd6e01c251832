// How far the duals of each tree change in a phase of `paths/trees.cu`, and along which paths they augment; see there.
#pragma once
#include "paths/trees_state.cuh"

// Finds the root of every reached column, and holds each Δ_t below its tree's sinks and rows that were not expanded.
__device__ __forceinline__ void find_roots(const Trees& t, const int* sources, int n_sources, int n_reached, int thread, int threads) {
    for (int k = thread; k < n_reached; k += threads) {
        const int row = t.row_of_col[t.reached[k]];
        if (row != NO_MEMBER) t.up[row] = parent_row(t.parent[t.reached[k]]);
    }
    grid_barrier(&t.words->barrier);
    for (int64 k = thread; k < (int64)n_sources + n_reached; k += threads) {
        if (k < n_sources) {
            const Member m = member(t, sources, n_sources, k);
            lower(&t.delta[m.root], unassigned_key(t, m));
            continue;
        }
        const int col = t.reached[k - n_sources];
        int root = parent_row(t.parent[col]);
        for (int above = now(&t.up[root]); above != root; above = now(&t.up[root])) root = above;
        t.root[col] = root;
        const Member m = member(t, sources, n_sources, k);
        if (m.row != NO_MEMBER) *(volatile int*)&t.up[m.row] = root;  // a shorter path for others, to the same root
        const bool is_sink = m.row == NO_MEMBER, waiting = !is_sink && !is_expanded(t, m);
        lower(&t.delta[root], is_sink || waiting ? m.base : unassigned_key(t, m));
    }
    grid_barrier(&t.words->barrier);
}

// Lowers Δ of a row's tree until its pairs with other trees stay feasible; returns whether it had to.
__device__ __forceinline__ bool hold_back(const Trees& t, const Member& m) {
    if (m.row == NO_MEMBER || m.base >= now(&t.delta[m.root])) return false;
    bool changed = false;
    const dual_t dual = t.dual[m.row];
    const int64 first = t.graph.first(m.row);
    const int degree = t.graph.degree(m.row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const dual_t value = t.graph.value(first, e, t.v);
        if (value >= none()) continue;
        const int to = t.graph.column(first, e);
        dual_t most = m.base + (value - dual);
        if (most >= now(&t.delta[m.root])) continue;
        const dual_t dist = t.dist[to];
        if (dist < none()) {
            if (t.root[to] == m.root) continue;
            const dual_t other = now(&t.delta[t.root[to]]);
            if (other >= none()) continue;
            if (other > dist) most += other - dist;
            if (most < other) most = other;  // but for rounding it never is: the nearest sink of all must hold
        }
        if (most < lower(&t.delta[m.root], most)) changed = true;
    }
    return changed;
}

// Augments along the path of a root; `sink` is a column, or n_cols + a row that becomes unassigned.
__device__ __forceinline__ void augment(const Trees& t, int root, int sink) {
    int col = sink;
    if (sink >= t.n_cols) {
        const int leaving = sink - t.n_cols;
        col = t.col_of_row[leaving];
        t.col_of_row[leaving] = NO_MEMBER;
        if (leaving == root) return;
    }
    while (true) {
        const int row = parent_row(t.parent[col]);
        const int before = t.col_of_row[row];
        t.col_of_row[row] = col;
        t.row_of_col[col] = row;
        if (row == root) return;
        col = before;
    }
}

// Makes a free row a root, in the queue of `round`.
__device__ __forceinline__ void plant(const Trees& t, int row, int64 at, int* queue, dual_t* bases) {
    queue[at] = row;
    bases[at] = 0;
    t.limit[row] = t.delta[row] = none();
    t.sink[row] = NO_SINK;
    t.up[row] = row;
}
