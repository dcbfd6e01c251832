// The alternating-tree Hungarian method for dense costs, whole, in one cooperative launch.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), Algorithms 2, 4, 5, 6 and 9, with the changes that `matching/hungarian/__init__.py` states. Ours is how they are
// augmented: the whole loop stays on the device; every block owns a strip of columns, whose slacks, duals and covers never
// leave its registers; a level of the search and the dual update after it are one exchange of 32 bytes a block. Its twin on
// the CPU is `matching/papers/date_nagi_2016/forest.py`: same levels, same ties, same answer.
//
// A search. Trees grow from all free rows. Key j is the dual change Δ at which the slack of column j is zero:
// min over the rows i in the trees of Δ_i + max(c_ij - v_j - r_i, 0). In each step every block says the least key of its
// columns that are not covered, and which rows would enter with it. All blocks read all of that; the least of all is the new
// Δ, and those rows are the next level. When Δ would rise and a sink is found, the search is over: each
// tree augments along its path with the smallest sink. Row i that becomes unassigned at its bound is a sink, written n_cols + i.
//
// Threads: the home thread of column `first + k` is thread k (and k + THREADS, ... : GROUPS columns a thread). It scans a
// level of few rows for its column. When there are many, all warps take a share of them for the same columns: the warps that
// share one tile of 32 columns are its slots.
// Exchange: a block's message, and each row of a level when a block has more than one, are 16-byte words, each written by
// one 128-bit store together with the number of the step. Readers poll until the number is right, so no barrier and no fence
// is needed. Two sets of both, by parity: a block that writes step s + 2 has read every block's step s + 1, which was written after
// reading step s.
// Ties: the smallest row of a level wins among equal slacks, and an older level among equal keys.
// Bytes: 4 to 8 per pair of a level's rows and all columns. Memory: 60 bytes per row and column.
// Hazards: `pred`, `row_of_col`, `col_of_row`, `r`, `best` are written by other blocks only between the three barriers that
// end a search; they are read past the L1 cache.
// variant: -DCOST=double -DGROUPS=3
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DGROUPS=3
#include "paths/matrix_forest_exchange.cuh"

// The level that `all` carries. All threads take part.
__device__ __forceinline__ void scan_level(const Costs& costs, const Step& all, const Strip& strip, uint32 step, const Messages& messages,
                                           const dual_t* v_of_strip, const AtBound& at_bound, Columns& own, Shared& shared, Scratch& scratch) {
    const int t = threadIdx.x;
    const bool has_rows = t < (int)gridDim.x && shared.count_of_block[t] > 0 && shared.key_of_block[t] == all.key;
    const int count = has_rows ? shared.count_of_block[t] : 0;
    const int place = has_rows ? atomicAdd(&shared.n_level[step & 1], count) : 0;
    Found found = found_nothing();
    for (int base = 0; base < all.count; base += CHUNK) {
        const int here = min(CHUNK, all.count - base);
        for (int k = max(0, base - place); k < min(count, base + CHUNK - place); ++k) shared.source[place + k - base] = t << 16 | k;
        __syncthreads();
        for (int q = t; q < here; q += THREADS) {
            const int from = shared.source[q] >> 16, k = shared.source[q] & 0xffff;
            scratch.level.put(q, shared.count_of_block[from] > 1 ? messages.receive(step, from, k) : shared.entry_of_block[from], costs.n_cols);
        }
        __syncthreads();
        at_bound.consider_all(scratch.level, here, all.key, strip);
        if (all.count <= FEW) scan_few(costs, scratch.level, here, all.key, strip, own);
        else scan_part(costs, scratch.level, here, strip, v_of_strip, found);
        if (at_bound.bound != nullptr || all.count > FEW) __syncthreads();
    }
    if (all.count > FEW) merge(own, scratch.share, all.key, strip, found);
}

// The level of all free rows.
__device__ __forceinline__ void scan_roots(const Costs& costs, const dual_t* r, const int* free_rows, int n_free, const Strip& strip,
                                           const dual_t* v_of_strip, const AtBound& at_bound, Columns& own, Scratch& scratch) {
    Found found = found_nothing();
    for (int base = 0; base < n_free; base += CHUNK) {
        const int count = min(CHUNK, n_free - base);
        for (int q = threadIdx.x; q < count; q += THREADS) {
            const int row = load_fresh(&free_rows[base + q]);
            scratch.level.put(q, Entry{row, FREE, row, fresh_dual(&r[row])}, costs.n_cols);
        }
        __syncthreads();
        scan_part(costs, scratch.level, count, strip, v_of_strip, found);
        at_bound.consider_all(scratch.level, count, dual_t(0), strip);
        __syncthreads();
    }
    merge(own, scratch.share, dual_t(0), strip, found);
}

// Exchanges matched edges and other edges along the path to `sink` (Algorithms 5 and 6 in one walk, as predecessors are enough).
__device__ void augment_path(int sink, int n_cols, const int2* pred, int* col_of_row, int* row_of_col) {
    int col = sink;
    if (sink >= n_cols) {
        col = load_fresh(&col_of_row[sink - n_cols]);
        store_fresh(&col_of_row[sink - n_cols], LEFT_UNASSIGNED);
    }
    while (col >= 0) {
        const int2 before = __ldcg(&pred[col]);
        store_fresh(&col_of_row[before.x], col);
        store_fresh(&row_of_col[col], before.x);
        col = before.y;
    }
}

// The whole solve. r, v: reduced (Algorithm 1).
__device__ __forceinline__ void solve(const Solve& self, int n_rows, int n_cols) {
    __shared__ Scratch scratch;
    __shared__ Shared shared;
    __shared__ dual_t v_of_strip[THREADS * GROUPS];
    Counts* const counts = self.counts;
    const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    const Costs costs{n_rows, n_cols, self.cost, self.forbidden};
    const AtBound at_bound{self.row_bound, self.unassigned_key, self.unassigned_root};
    const Messages messages{self.message_slots, self.lists};
    Strip strip;
    const int blocks = gridDim.x, block = blockIdx.x;
    const int share = ((n_cols + blocks - 1) / blocks + 7) / 8 * 8;  // whole sectors of 4-byte costs
    strip.first = min(block * share, n_cols);
    strip.width = min(share, n_cols - strip.first);
    const int rows_share = (n_rows + blocks - 1) / blocks;
    strip.first_row = min(block * rows_share, n_rows);
    strip.height = min(rows_share, n_rows - strip.first_row);
    strip.tiles = (share + 31) / 32;
    strip.slots = GROUPS == 1 ? WARPS / strip.tiles : 1;
    Columns own;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        const bool mine = k < strip.width;
        own.v[g] = mine ? self.v[strip.first + k] : dual_t(0);
        own.row[g] = mine ? self.row_of_col[strip.first + k] : FREE;
        own.r[g] = own.row[g] == FREE ? dual_t(0) : self.r[own.row[g]];
        v_of_strip[k] = own.v[g];
    }
    if (threadIdx.x == 0) shared.n_listed[0] = shared.n_listed[1] = shared.n_level[0] = shared.n_level[1] = 0;
    __syncthreads();
    uint32 step = 0;
    int search = 0, n_levels = 0, n_updates = 0;
    int64 n_scanned = 0, search_ns = 0, augment_ns = 0;
    const bool leads = thread == 0;
    while (true) {
        const int n_free = load_fresh(&counts->free[search % 3]);
        int* const roots = self.free_rows + (search & 1) * n_rows;
        int* const next_roots = self.free_rows + (~search & 1) * n_rows;
        if (n_free == 0) break;
        const int64 began = nanoseconds();
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            own.key[g] = none();
            own.covered[g] = (int)(threadIdx.x + g * THREADS) >= strip.width;
            own.from[g] = Origin{FREE, FREE, FREE};
        }
        if (at_bound.bound != nullptr) {
            for (int k = threadIdx.x; k < strip.height; k += THREADS) at_bound.key[strip.first_row + k] = none();
            __syncthreads();
        }
        scan_roots(costs, self.r, roots, n_free, strip, v_of_strip, at_bound, own, scratch);
        if (at_bound.bound != nullptr) __syncthreads();
        n_scanned += n_free, n_levels += 1;

        dual_t delta = 0;
        bool found_sink = false;
        while (true) {
            const Step all = exchange(own, at_bound, strip, ++step, messages, shared);
            if (all.key >= none() || (found_sink && all.key > delta)) break;
            n_updates += all.key > delta;
            delta = all.key;
            found_sink = found_sink || all.is_sink;
#pragma unroll
            for (int g = 0; g < GROUPS; ++g) {
                if (own.covered[g] || own.key[g] > delta) continue;
                own.covered[g] = true;
                const int col = strip.first + threadIdx.x + g * THREADS;
                self.pred[col] = make_int2(own.from[g].row, own.from[g].col);
                if (own.row[g] == FREE) atomicMin(&self.best[own.from[g].root], col);
            }
            if (at_bound.bound != nullptr) {
                for (int k = threadIdx.x; k < strip.height; k += THREADS) {
                    const int row = strip.first_row + k;
                    if (fresh_dual(&at_bound.key[row]) > delta) continue;
                    at_bound.key[row] = none();
                    atomicMin(&self.best[at_bound.root[row]], n_cols + row);
                }
                __syncthreads();
            }
            if (all.count == 0) break;
            n_scanned += all.count, n_levels += 1;
            if (all.count == 1) {
                scan_one(costs, all.entry, delta, strip, own);
                if (at_bound.bound != nullptr) {
                    if (threadIdx.x == 0) at_bound.consider(all.entry.row, all.entry.root, all.entry.r, delta, strip);
                    __syncthreads();
                }
            } else {
                scan_level(costs, all, strip, step, messages, v_of_strip, at_bound, own, shared, scratch);
            }
        }
        const int64 grown = nanoseconds();
        search_ns += grown - began;
        if (!found_sink) {
            if (leads) counts->infeasible_row = load_fresh(&roots[0]);
            break;
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (own.covered[g] && own.row[g] != FREE) {
                own.v[g] -= delta - own.key[g];
                v_of_strip[threadIdx.x + g * THREADS] = own.v[g];
            }
        grid_barrier(&counts->barrier);  // all sinks and predecessors are known
        for (int q = thread; q < n_free; q += threads) {
            const int sink = load_fresh(&self.best[load_fresh(&roots[q])]);
            if (sink != NO_SINK) augment_path(sink, n_cols, self.pred, self.col_of_row, self.row_of_col);
        }
        if (leads) counts->free[(search + 2) % 3] = 0;
        grid_barrier(&counts->barrier);  // the matching is the next search's
        for (int q = thread; q < n_free; q += threads) {
            const int row = load_fresh(&roots[q]);
            if (load_fresh(&self.best[row]) == NO_SINK) {
                self.r[row] = fresh_dual(&self.r[row]) + delta;
                next_roots[next_place(&counts->free[(search + 1) % 3])] = row;
            } else {
                self.best[row] = NO_SINK;
            }
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const int k = threadIdx.x + g * THREADS;
            if (k >= strip.width) continue;
            own.row[g] = load_fresh(&self.row_of_col[strip.first + k]);
            if (!own.covered[g] || own.row[g] == FREE) continue;
            own.r[g] = (dual_t)costs.row(own.row[g])[strip.first + k] - own.v[g];
            self.r[own.row[g]] = own.r[g];
        }
        grid_barrier(&counts->barrier);  // duals and free rows are the next search's
        augment_ns += nanoseconds() - grown;
        ++search;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if ((int)(threadIdx.x + g * THREADS) < strip.width) self.v[strip.first + threadIdx.x + g * THREADS] = own.v[g];
    if (leads) {
        counts->searches = search, counts->levels = n_levels, counts->dual_updates = n_updates;
        counts->rows_scanned = n_scanned, counts->search_ns = search_ns, counts->augment_ns = augment_ns;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) hungarian_forest(
    int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden, const dual_t* row_bound, dual_t* v, dual_t* r,
    int* col_of_row, int* row_of_col, int2* pred, int* best, int* free_rows, dual_t* unassigned_key, int* unassigned_root,
    uint64* message_slots, uint64* lists, Counts* counts
) {
    solve(Solve{cost, forbidden, row_bound, v, r, col_of_row, row_of_col, free_rows, unassigned_key, unassigned_root, pred, best,
                message_slots, lists, counts},
          n_rows, n_cols);
}
