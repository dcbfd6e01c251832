// The state of the forest that `paths/graph_forest.cu` grows, and the steps of a phase; see there.
#pragma once
#include "paths/parents.cuh"

struct Forest {
    Graph graph;
    dual_t* v;
    int* col_of_row;
    int* row_of_col;
    dual_t* dist;   // (columns,)
    uint64* parent;  // (columns,)
    int* lowered;    // (columns,) round in which the distance last fell
    dual_t* duals;  // (rows,) of this phase
};

// At least one unit, where costs are integers, and so that no threshold leaves the range.
__device__ __forceinline__ dual_t larger_step(dual_t step) {
#ifdef INTEGER
    return step < 1 ? 1 : step < none() / 8 ? 2 * step : step;
#else
    return 2 * step;
#endif
}
__device__ __forceinline__ dual_t smaller_step(dual_t step) {
#ifdef INTEGER
    return step < 2 ? 1 : step / 2;
#else
    return step / 2;
#endif
}

// The rows that wait for a higher threshold: each at most once.
struct Later {
    int* rows;
    int* size;
    unsigned char* is_in;  // (rows,)
    dual_t* nearest;
};

// Calls `reach(column, length of the path to it)` for the columns that a row can be matched with.
template <class Reach>
__device__ __forceinline__ void reach_from(const Forest& f, int row, dual_t base, const Reach& reach) {
    const int64 first = f.graph.first(row);
    const int degree = f.graph.degree(row);
    const dual_t dual = f.duals[row];
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const dual_t value = f.graph.value(first, e, f.v);
        if (value < none()) reach(f.graph.column(first, e), base + (value - dual));
    }
}

// A row lowers the distances of its columns.
__device__ __forceinline__ void relax(const Forest& f, int row, dual_t base, int round) {
    reach_from(f, row, base, [&](int col, dual_t through) {
        if (through >= *(volatile dual_t*)&f.dist[col]) return;
        lower(&f.dist[col], through);
        f.lowered[col] = round;
    });
}

// A row claims the columns that it lowered, and queues their rows.
__device__ __forceinline__ void claim(
    const Forest& f, int row, dual_t base, dual_t threshold, int round, int* next, dual_t* next_base, int* n_next,
    const Later& later
) {
    reach_from(f, row, base, [&](int col, dual_t through) {
        if (through != f.dist[col] || f.lowered[col] != round) return;
        const uint64 before = atomicMin(&f.parent[col], parent_key(round, row));
        const int owner = f.row_of_col[col];
        if (owner == NO_MEMBER || parent_round(before) == round) return;
        if (through <= threshold) {
            const int place = next_place(n_next);
            next[place] = owner;
            next_base[place] = through;
        } else if (!later.is_in[owner]) {
            later.is_in[owner] = 1;
            later.rows[next_place(later.size)] = owner;
            lower(later.nearest, through);
        }
    });
}

// Queues the rows between two thresholds and keeps those beyond for later; those below were queued long ago.
__device__ __forceinline__ void sift(
    const Forest& f, const Later& from, const Later& to, dual_t done, dual_t threshold, int* next, dual_t* next_base,
    int* n_next, int thread, int threads
) {
    const int size = *(volatile int*)from.size;
    for (int at = thread; at < size; at += threads) {
        const int row = from.rows[at];
        const dual_t base = f.dist[f.col_of_row[row]];
        if (base > threshold) {
            to.rows[next_place(to.size)] = row;
            continue;
        }
        from.is_in[row] = 0;
        if (base <= done) continue;
        const int place = next_place(n_next);
        next[place] = row;
        next_base[place] = base;
    }
}
