// Many small dense problems by the alternating-tree Hungarian method, each by a block of its own.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), Algorithms 1, 2, 4, 5, 6 and 9, with the changes that `matching/hungarian/__init__.py` states. Same levels, ties and
// answers as papers/date_nagi_2016/forest.py, its twin; paths/matrix_forest.cu does the same with all blocks for one problem.
//
// Threads: column j belongs to thread j modulo THREADS, GROUPS columns a thread, whose keys and duals are in its registers; between
// searches a thread takes a row or a root.
// Bytes: 4 to 8 per pair of a level's rows and all columns, from the L2 cache where the problem fits. Memory: 24 bytes a row, 4 a
// column. Hazards: none between blocks; `best` is lowered by atomics and read after a barrier, past the L1 cache.
// variant: -DCOST=double -DGROUPS=8
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "hungarian/places.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef GROUPS
#define GROUPS 2  // columns of a thread
#endif
constexpr int CHUNK = 128;  // rows of a level that are looked at together

struct TreeCounts {
    int infeasible_row;  // a row that must be matched and cannot be, or -1
    int searches, levels, dual_updates;
    int64 rows_scanned;
};

// Arrays in global memory, each from where the problem's own part begins.
struct Forest {
    Costs costs;
    const dual_t* row_bound;  // or null when no row may stay unassigned
    dual_t* v;
    dual_t* r;
    dual_t* unassigned_key;  // (rows,) the dual change at which a row in the trees becomes unassigned
    int* col_of_row;
    int* row_of_col;
    int* pred;   // (columns,)
    int* root;   // (rows,)
    int* best;   // (rows,) smallest sink of a root's paths
    int* level;  // (2, rows) rows of a level and of the next
    int* roots;  // (rows,)
};

struct Shared {
    int row[CHUNK];
    dual_t r[CHUNK];
    dual_t least[THREADS / 32];
    int n_roots, n_level[2], found_sink;
};

// The columns of a thread.
struct Columns {
    dual_t v[GROUPS], key[GROUPS];
    bool covered[GROUPS];
};

__device__ __forceinline__ int column(int g) { return threadIdx.x + g * THREADS; }

// Algorithm 4: lowers the keys by a level's rows. The smallest row wins among equal slacks, an older level among equal keys.
__device__ __forceinline__ void expand(const Forest& f, const int* level, int n_level, dual_t delta, Columns& own, Shared& shared) {
    dual_t least[GROUPS];
    int from[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) least[g] = none(), from[g] = NO_SINK;
    for (int base = 0; base < n_level; base += CHUNK) {
        const int n = min(CHUNK, n_level - base);
        __syncthreads();
        for (int q = threadIdx.x; q < n; q += THREADS) {
            const int i = level[base + q];
            shared.row[q] = i, shared.r[q] = f.r[i];
            if (f.row_bound != nullptr) f.unassigned_key[i] = f.row_bound[i] < none() ? delta + (f.row_bound[i] - f.r[i]) : none();
        }
        __syncthreads();
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            if (own.covered[g]) continue;
#pragma unroll 8
            for (int q = 0; q < n; ++q) {
                const int i = shared.row[q];
                const dual_t c = f.costs.of(f.costs.first(i) + column(g));
                const dual_t slack = c - own.v[g] - shared.r[q];
                if (c < none() && (slack < least[g] || (slack == least[g] && i < from[g]))) least[g] = slack, from[g] = i;
            }
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const dual_t key = delta + (least[g] > 0 ? least[g] : dual_t(0));
        if (own.covered[g] || !(least[g] < none()) || key >= own.key[g]) continue;
        own.key[g] = key;
        f.pred[column(g)] = from[g];
    }
}

// The least Δ at which a column enters or a row becomes unassigned; the same for all threads.
__device__ __forceinline__ dual_t least_key(const Forest& f, const Columns& own, Shared& shared) {
    dual_t mine = none();
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if (!own.covered[g] && own.key[g] < mine) mine = own.key[g];
    if (f.row_bound != nullptr) {
        __syncthreads();
        for (int i = threadIdx.x; i < f.costs.n_rows; i += THREADS)
            if (f.unassigned_key[i] < mine) mine = f.unassigned_key[i];
    }
    mine = least_of_warp(mine);
    if (lane() == 0) shared.least[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; ++w)
        if (shared.least[w] < mine) mine = shared.least[w];
    return mine;
}

// Takes in the columns of zero slack with the rows they are matched with; the unmatched are sinks, and so are rows at their bound.
__device__ __forceinline__ void enter(const Forest& f, dual_t delta, int* next, int* n_next, Columns& own, Shared& shared) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        if (own.covered[g] || own.key[g] > delta) continue;
        own.covered[g] = true;
        const int j = column(g), i = f.row_of_col[j], root = f.root[f.pred[j]];
        if (i == FREE) {
            atomicMin(&f.best[root], j);
            shared.found_sink = 1;
        } else {
            f.root[i] = root;
            next[next_place(n_next)] = i;
        }
    }
    if (f.row_bound == nullptr) return;
    for (int i = threadIdx.x; i < f.costs.n_rows; i += THREADS) {
        if (f.unassigned_key[i] > delta) continue;
        f.unassigned_key[i] = none();
        atomicMin(&f.best[f.root[i]], f.costs.n_cols + i);
        shared.found_sink = 1;
    }
}

// Exchanges matched edges and other edges along the path to `sink` (Algorithms 5 and 6).
__device__ __forceinline__ void augment_path(const Forest& f, int sink) {
    int col = sink;
    if (sink >= f.costs.n_cols) {
        col = f.col_of_row[sink - f.costs.n_cols];
        f.col_of_row[sink - f.costs.n_cols] = LEFT_UNASSIGNED;
    }
    while (col >= 0) {
        const int i = f.pred[col], before = f.col_of_row[i];
        f.col_of_row[i] = col;
        f.row_of_col[col] = i;
        col = before;
    }
}

// Lists the free rows as roots and as the first level.
__device__ __forceinline__ void plant(const Forest& f, Columns& own, Shared& shared) {
    __syncthreads();
    if (threadIdx.x == 0) shared.n_roots = shared.n_level[0] = shared.n_level[1] = shared.found_sink = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < f.costs.n_rows; i += THREADS) {
        if (f.row_bound != nullptr) f.unassigned_key[i] = none();
        if (f.col_of_row[i] != FREE) continue;
        const int place = next_place(&shared.n_roots);
        f.roots[place] = f.level[place] = i;
        f.root[i] = i;
        f.best[i] = NO_SINK;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) own.key[g] = none(), own.covered[g] = column(g) >= f.costs.n_cols;
    __syncthreads();
}

// One search: grows trees level by level until paths end and the level is complete. Returns Δ, or `none` when nothing can be reached.
__device__ __forceinline__ dual_t grow(const Forest& f, Columns& own, Shared& shared, TreeCounts& counts) {
    dual_t delta = 0;
    int n_level = shared.n_roots;
    for (int parity = 0;; parity ^= 1) {
        const int* const level = f.level + (int64)parity * f.costs.n_rows;
        expand(f, level, n_level, delta, own, shared);
        counts.rows_scanned += n_level, counts.levels += 1;
        const dual_t least = least_key(f, own, shared);
        const bool found_sink = shared.found_sink;
        if (least >= none() || (found_sink && least > delta)) return found_sink ? delta : none();
        counts.dual_updates += least > delta;
        delta = least;
        __syncthreads();
        if (threadIdx.x == 0) shared.n_level[parity] = 0;
        enter(f, delta, f.level + (int64)(parity ^ 1) * f.costs.n_rows, &shared.n_level[parity ^ 1], own, shared);
        __syncthreads();
        n_level = shared.n_level[parity ^ 1];
    }
}

// The dual change of the search, its paths, and what these leave of the rows' duals.
__device__ __forceinline__ void finish(const Forest& f, dual_t delta, Columns& own, const Shared& shared) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if (own.key[g] <= delta && own.covered[g] && column(g) < f.costs.n_cols) own.v[g] -= delta - own.key[g];
    for (int q = threadIdx.x; q < shared.n_roots; q += THREADS) {
        const int i = f.roots[q], sink = load_fresh(&f.best[i]);
        if (sink == NO_SINK) f.r[i] += delta;
        else augment_path(f, sink);
    }
    __syncthreads();
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int j = column(g);
        if (j >= f.costs.n_cols || !own.covered[g] || f.row_of_col[j] == FREE) continue;
        f.r[f.row_of_col[j]] = (dual_t)f.costs.cost[f.costs.first(f.row_of_col[j]) + j] - own.v[g];
    }
}

// again: go on from v, r and the matching; else v, r are written and nothing is matched.
extern "C" __global__ void __launch_bounds__(THREADS, THREADS > 256 ? 1 : 2) hungarian_tree_batch(
    const Place* places, const cost_t* cost, const unsigned char* forbidden, const dual_t* row_bound, const dual_t* col_bound,
    int again, dual_t* v, dual_t* r, int* col_of_row, int* row_of_col, dual_t* unassigned_key, int* pred, int* root,
    int* best, int* level, int* roots, TreeCounts* counts
) {
    __shared__ Shared shared;
    const Place at = places[blockIdx.x];
    const int64 i0 = at.first_row, j0 = at.first_col;
    const Costs costs{at.n_rows, at.n_cols, cost + at.first_cost, forbidden == nullptr ? nullptr : forbidden + at.first_cost, nullptr};
    const Forest f{costs, row_bound == nullptr ? nullptr : row_bound + i0, v + j0, r + i0, unassigned_key + i0, col_of_row + i0,
                   row_of_col + j0, pred + j0, root + i0, best + i0, level + 2 * i0, roots + i0};
    if (!again) reduce(costs, f.row_bound, col_bound + j0, f.v, f.r);
    TreeCounts mine{-1, 0, 0, 0, 0};
    for (int i = threadIdx.x; i < at.n_rows; i += THREADS)
        if (f.r[i] >= none()) counts[blockIdx.x].infeasible_row = i;
    Columns own;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) own.v[g] = column(g) < at.n_cols ? f.v[column(g)] : dual_t(0);
    __syncthreads();
    if (load_fresh(&counts[blockIdx.x].infeasible_row) >= 0) return;
    while (true) {
        plant(f, own, shared);
        if (shared.n_roots == 0) break;
        const dual_t delta = grow(f, own, shared, mine);
        if (delta >= none()) {
            mine.infeasible_row = f.roots[0];
            break;
        }
        finish(f, delta, own, shared);
        mine.searches += 1;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if (column(g) < at.n_cols) f.v[column(g)] = own.v[g];
    if (threadIdx.x == 0) counts[blockIdx.x] = mine;
}
