// The alternating-tree Hungarian method for dense costs, whole, in one cooperative launch.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), Algorithms 2, 4, 5, 6 and 9, with the changes that `matching/hungarian/__init__.py` states. Ours is how they are
// carried out: the whole loop stays on the device; every block owns a strip of columns, whose slacks, duals and covers never
// leave its registers; a level of the search and the dual update after it are one exchange of 32 bytes a block. Its twin on
// the CPU is `matching/hungarian/forest.py`: same levels, same ties, same answer.
//
// A search. Trees grow from all free rows. Key j is the dual change Δ at which the slack of column j is zero:
// min over the rows i in the trees of Δ_i + max(c_ij - v_j - r_i, 0). In each step every block says the least key of its
// columns that are not covered, and which rows would enter with it. All blocks read all of that; the least of all is the new
// Δ, and those rows are the next level. When Δ would rise and some path has ended at a free column, the search is over: each
// tree carries out its path with the smallest end. Row i that goes alone at its bound is a path's end, written n_cols + i.
//
// Threads: the home thread of column `first + k` is thread k (and k + blockDim.x, ... : GROUPS columns a thread). When a
// level has many rows, the other warps take a share of them for the same columns: SLOTS = warps / (strip / 32).
// Exchange: two 16-byte words a block, each written by one 128-bit store together with the number of the step, so that
// readers need no barrier: they poll until the number is right. A level of more than one row of a block lies in `lists`,
// written before. Two sets of both, by parity: who writes step s + 2 has read every block's step s + 1, which was written after
// reading step s.
// Bytes: 4 to 8 per pair of a level's rows and all columns. Memory: 60 bytes per row and column.
// Hazards: `pred`, `row_of_col`, `col_of_row`, `r`, `best` are written by other blocks only between the three barriers that
// end a search; they are read past the L1 cache.
// variant: -DCOST=double -DGROUPS=3
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DGROUPS=3
#include "auction.cuh"

#ifndef GROUPS
#define GROUPS 1
#endif
#ifndef THREADS
#define THREADS 512
#endif
constexpr int WARPS = THREADS / 32;
constexpr int CHUNK = 1024;  // rows of a level in shared memory at once
#ifndef UNROLL
#define UNROLL 16
#endif
constexpr int FREE = -1, WENT_ALONE = -2;
constexpr int NO_END = 0x7fffffff;
constexpr int MAX_BLOCKS = 256;

__device__ __forceinline__ uint64 bits_of(price_t x) {
#ifdef INTEGER
    return (uint64)x;
#else
    return (uint64)__double_as_longlong(x);
#endif
}
__device__ __forceinline__ price_t price_of(uint64 bits) {
#ifdef INTEGER
    return (price_t)bits;
#else
    return __longlong_as_double((int64)bits);
#endif
}
__device__ __forceinline__ void store_words(uint64* at, uint64 a, uint64 b) {
    asm volatile("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w;}" ::"l"(at), "l"(a), "l"(b) : "memory");
}
__device__ __forceinline__ void load_words(const uint64* at, uint64& a, uint64& b) {
    asm volatile("{.reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w;}" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
__device__ __forceinline__ price_t fresh_price(const price_t* at) { return price_of(load_fresh((const uint64*)at)); }

// A row that enters the trees: the column it is matched with (FREE for a root) and its root.
struct Entry {
    int row, col, root;
};

// What a warp, a block or the whole grid has found: the least key, how many rows enter with it, one of them, and whether
// a path ends with it.
struct Step {
    price_t key;
    Entry entry;
    int count;
    int ends;
};

__device__ __forceinline__ price_t least_of_warp(price_t key) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const price_t there = __shfl_xor_sync(FULL_WARP, key, step);
        key = there < key ? there : key;
    }
    return key;
}
__device__ __forceinline__ int sum_of_warp(int value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
}
__device__ __forceinline__ Entry entry_of_lane(const Entry& e, int from) {
    return Entry{__shfl_sync(FULL_WARP, e.row, from), __shfl_sync(FULL_WARP, e.col, from), __shfl_sync(FULL_WARP, e.root, from)};
}

// The steps of the lanes together, known to all of them.
__device__ __forceinline__ Step together(const Step& mine) {
    Step all;
    all.key = least_of_warp(mine.key);
    const bool least = mine.key == all.key && all.key < none();
    const uint32 with_row = __ballot_sync(FULL_WARP, least && mine.count > 0);
    all.ends = __any_sync(FULL_WARP, least && mine.ends);
    all.count = 0;
    all.entry = Entry{FREE, FREE, FREE};
    if (with_row) {
        all.entry = entry_of_lane(mine.entry, __ffs(with_row) - 1);
        all.count = sum_of_warp(least ? mine.count : 0);
    }
    return all;
}

struct Costs {
    int n_rows, n_cols;
    const cost_t* __restrict__ cost;
    const unsigned char* __restrict__ forbidden;  // or null

    __device__ __forceinline__ const cost_t* row(int i) const { return cost + (int64)i * n_cols; }
    __device__ __forceinline__ bool forbids(int i, int j) const {
        return forbidden != nullptr && forbidden[(int64)i * n_cols + j];
    }
};

// The columns of a home thread.
struct Columns {
    price_t v[GROUPS], key[GROUPS];
    int row[GROUPS];  // matched with, or FREE
    Entry from[GROUPS];
    bool covered[GROUPS];
};

// A part of one level's rows, and what the warps that share a strip found for its columns.
struct Level {
    price_t r[CHUNK];
    Entry entry[CHUNK];
};
struct Share {
    price_t key[THREADS];
    Entry entry[THREADS];
};
union Room {
    Level level;
    Share share;
};

struct Counts {
    int free[3];  // length of the list of free rows, by search modulo 3
    int stuck;    // a free row from which nothing can be reached, or -1
    uint32 barrier;
    int searches, levels, dual_updates;
    int64 rows_scanned, search_ns, augment_ns;
    int paths[64];  // found in each of the first searches
};

struct Strip {
    int first, width;  // columns
    int first_row, height;
    int tiles, slots;
};

__device__ __forceinline__ price_t key_of(price_t delta, price_t slack) { return delta + (slack > 0 ? slack : price_t(0)); }

__device__ __forceinline__ void improve(price_t key, const Entry& entry, price_t& best, Entry& from) {
    if (key < best || (key == best && entry.row < from.row)) best = key, from = entry;
}

// Keys of the strip's columns from `count` rows of a level; `best`, `from` collect over the parts of the level.
__device__ __forceinline__ void scan_part(const Costs& costs, const Level& level, int count, price_t delta, const Strip& strip,
                                          const price_t* v_of_strip, price_t (&best)[GROUPS], Entry (&from)[GROUPS]) {
    const int warp = threadIdx.x / 32;
    const int slot = GROUPS == 1 ? warp / strip.tiles : 0;
    if (slot >= strip.slots) return;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = (GROUPS == 1 ? (warp % strip.tiles) * 32 : warp * 32 + g * THREADS) + lane();
        if (k >= strip.width) continue;
        const price_t v = v_of_strip[k];
        const int col = strip.first + k;
        for (int at = slot; at < count; at += UNROLL * strip.slots) {
            cost_t c[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) c[u] = __ldcs(costs.row(level.entry[min(at + u * strip.slots, count - 1)].row) + col);
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                const int q = min(at + u * strip.slots, count - 1);
                if (costs.forbids(level.entry[q].row, col)) continue;
                improve(key_of(delta, (price_t)c[u] - v - level.r[q]), level.entry[q], best[g], from[g]);
            }
        }
    }
}

// The home threads take over the best of all who shared their columns, where it is below the key they have.
__device__ __forceinline__ void merge(Columns& own, Share& share, const Strip& strip, price_t (&best)[GROUPS], Entry (&from)[GROUPS]) {
    if (GROUPS == 1 && strip.slots > 1) {
        const int columns = strip.tiles * 32;
        if ((int)threadIdx.x < columns * strip.slots) share.key[threadIdx.x] = best[0], share.entry[threadIdx.x] = from[0];
        __syncthreads();
        if ((int)threadIdx.x < columns)
            for (int at = columns + threadIdx.x; at < columns * strip.slots; at += columns)
                improve(share.key[at], share.entry[at], best[0], from[0]);
        __syncthreads();
        if ((int)threadIdx.x >= columns) return;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if (!own.covered[g] && best[g] < own.key[g]) own.key[g] = best[g], own.from[g] = from[g];
}

// One row alone: the home threads scan it without help.
__device__ __forceinline__ void scan_one(const Costs& costs, const Entry& entry, price_t r, price_t delta, const Strip& strip, Columns& own) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        if (k >= strip.width || own.covered[g] || costs.forbids(entry.row, strip.first + k)) continue;
        const price_t key = key_of(delta, (price_t)costs.row(entry.row)[strip.first + k] - own.v[g] - r);
        if (key < own.key[g]) own.key[g] = key, own.from[g] = entry;
    }
}

// Rows that may stay alone, in global memory; each is written and read by the block whose strip of rows it is in.
struct Alone {
    const price_t* __restrict__ bound;  // or null when no row may stay alone
    price_t* key;
    int* root;

    __device__ __forceinline__ void consider(const Entry& entry, price_t r, price_t delta, const Strip& strip) const {
        const int k = entry.row - strip.first_row;
        if (k < 0 || k >= strip.height || bound[entry.row] >= none()) return;
        root[entry.row] = entry.root;
        key[entry.row] = key_of(delta, bound[entry.row] - r);
    }
};

struct Shared {
    Step of_warp[WARPS], of_readers[MAX_BLOCKS / 32];
    price_t key_of_block[MAX_BLOCKS];
    Entry entry_of_block[MAX_BLOCKS];  // its only row, when it has one; more are in its list
    int count_of_block[MAX_BLOCKS], place_of_block[MAX_BLOCKS];
    int n_listed, n_level;
};

constexpr int WORDS = 4;  // of a block and step

// Every block says what its columns and rows offer at the least key of all; all blocks return the same.
__device__ __forceinline__ Step exchange(const Columns& own, const Alone& alone, const Strip& strip, uint32 step, uint64* words,
                                         int4* lists, Shared& shared) {
    const Step nothing{none(), Entry{FREE, FREE, FREE}, 0, 0};
    Step mine = nothing;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        if (own.covered[g] || own.key[g] > mine.key || own.key[g] >= none()) continue;
        if (own.key[g] < mine.key) mine = nothing, mine.key = own.key[g];
        const int col = strip.first + threadIdx.x + g * THREADS;
        if (own.row[g] == FREE) mine.ends = 1;
        else mine.entry = Entry{own.row[g], col, own.from[g].root}, mine.count += 1;
    }
    if (alone.bound != nullptr)
        for (int k = threadIdx.x; k < strip.height; k += THREADS) {
            const price_t key = fresh_price(&alone.key[strip.first_row + k]);
            if (key < mine.key) mine = nothing, mine.key = key;
            if (key == mine.key && key < none()) mine.ends = 1;
        }
    const Step of_warp = together(mine);
    if (lane() == 0) shared.of_warp[threadIdx.x / 32] = of_warp;
    __syncthreads();
    const Step block = together(lane() < WARPS ? shared.of_warp[lane()] : nothing);
    uint64* const at = words + ((step & 1) * gridDim.x + blockIdx.x) * WORDS;
    if (block.count > 1) {
        int4* const list = lists + ((int64)(step & 1) * gridDim.x + blockIdx.x) * (THREADS * GROUPS);
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (!own.covered[g] && own.row[g] != FREE && own.key[g] == block.key)
                list[atomicAdd(&shared.n_listed, 1)] =
                    make_int4(own.row[g], strip.first + threadIdx.x + g * THREADS, own.from[g].root, 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            shared.n_listed = 0;
            __threadfence();
        }
    }
    if (threadIdx.x == 0) {
        store_words(at, bits_of(block.key), (uint64)(uint32)block.entry.row | (uint64)step << 32);
        store_words(at + 2, (uint64)(uint32)block.entry.col | (uint64)(uint32)block.entry.root << 32,
                    (uint64)(uint32)(2 * block.count + block.ends) | (uint64)step << 32);
    }
    const int readers = (gridDim.x + 31) / 32;
    if ((int)threadIdx.x / 32 < readers) {
        Step there = nothing;
        if (threadIdx.x < gridDim.x) {
            const uint64* const from = words + ((step & 1) * gridDim.x + threadIdx.x) * WORDS;
            uint64 key, row, place, count;
            do load_words(from, key, row); while (row >> 32 != step);
            do load_words(from + 2, place, count); while (count >> 32 != step);
            there = Step{price_of(key), Entry{(int)row, (int)place, (int)(place >> 32)}, (int)((uint32)count / 2), (int)(count & 1)};
            shared.key_of_block[threadIdx.x] = there.key;
            shared.count_of_block[threadIdx.x] = there.count;
            shared.entry_of_block[threadIdx.x] = there.entry;
        }
        const Step of_readers = together(there);
        if (lane() == 0) shared.of_readers[threadIdx.x / 32] = of_readers;
    }
    __syncthreads();
    return together(lane() < readers ? shared.of_readers[lane()] : nothing);
}

// The level that `all` announces, from the lists of the blocks that have rows in it. All threads come.
__device__ __forceinline__ void scan_level(const Costs& costs, const price_t* r, const Step& all, const Strip& strip, uint32 step,
                                           const int4* lists, const price_t* v_of_strip, const Alone& alone, Columns& own,
                                           Shared& shared, Room& room) {
    price_t best[GROUPS];
    Entry from[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) best[g] = none(), from[g] = Entry{FREE, FREE, FREE};
    if (threadIdx.x < gridDim.x && shared.count_of_block[threadIdx.x] > 0 && shared.key_of_block[threadIdx.x] == all.key)
        shared.place_of_block[threadIdx.x] = atomicAdd(&shared.n_level, shared.count_of_block[threadIdx.x]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) shared.n_level = 0;
    for (int base = 0; base < all.count; base += CHUNK) {
        const int count = min(CHUNK, all.count - base);
        for (int b = threadIdx.x / 32; b < gridDim.x; b += WARPS) {
            if (shared.count_of_block[b] == 0 || shared.key_of_block[b] != all.key) continue;
            const int4* const list = lists + ((int64)(step & 1) * gridDim.x + b) * (THREADS * GROUPS);
            for (int k = lane(); k < shared.count_of_block[b]; k += 32) {
                const int at = shared.place_of_block[b] + k - base;
                if (at < 0 || at >= CHUNK) continue;
                Entry e = shared.entry_of_block[b];
                if (shared.count_of_block[b] > 1) {
                    const int4 listed = __ldcg(&list[k]);
                    e = Entry{listed.x, listed.y, listed.z};
                }
                room.level.entry[at] = e;
                room.level.r[at] = fresh_price(&r[e.row]);
            }
        }
        __syncthreads();
        scan_part(costs, room.level, count, all.key, strip, v_of_strip, best, from);
        if (alone.bound != nullptr)
            for (int q = threadIdx.x; q < count; q += THREADS) alone.consider(room.level.entry[q], room.level.r[q], all.key, strip);
        __syncthreads();
    }
    merge(own, room.share, strip, best, from);
}

// The level of all free rows.
__device__ __forceinline__ void scan_roots(const Costs& costs, const price_t* r, const int* free_rows, int n_free, const Strip& strip,
                                           const price_t* v_of_strip, const Alone& alone, Columns& own, Room& room) {
    price_t best[GROUPS];
    Entry from[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) best[g] = none(), from[g] = Entry{FREE, FREE, FREE};
    for (int base = 0; base < n_free; base += CHUNK) {
        const int count = min(CHUNK, n_free - base);
        for (int q = threadIdx.x; q < count; q += THREADS) {
            const int row = load_fresh(&free_rows[base + q]);
            room.level.entry[q] = Entry{row, FREE, row};
            room.level.r[q] = fresh_price(&r[row]);
        }
        __syncthreads();
        scan_part(costs, room.level, count, price_t(0), strip, v_of_strip, best, from);
        if (alone.bound != nullptr)
            for (int q = threadIdx.x; q < count; q += THREADS) alone.consider(room.level.entry[q], room.level.r[q], price_t(0), strip);
        __syncthreads();
    }
    merge(own, room.share, strip, best, from);
}

// Exchanges links and non-links along the path to `end` (Algorithms 5 and 6 in one walk, as predecessors are enough).
__device__ void carry_out(int end, int n_cols, const int2* pred, int* col_of_row, int* row_of_col) {
    int col = end;
    if (end >= n_cols) {
        col = load_fresh(&col_of_row[end - n_cols]);
        store_fresh(&col_of_row[end - n_cols], WENT_ALONE);
    }
    while (col >= 0) {
        const int2 before = __ldcg(&pred[col]);
        store_fresh(&col_of_row[before.x], col);
        store_fresh(&row_of_col[col], before.x);
        col = before.y;
    }
}

// free_rows: two lists of n_rows; the first holds counts->free[0] rows. best: (rows,) all NO_END. words: zeros.
// r, v: reduced (Algorithm 1). alone_key: (rows,), if row_bound is given.
extern "C" __global__ void __launch_bounds__(THREADS, 1) hungarian_forest(
    int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden, const price_t* row_bound, price_t* v, price_t* r,
    int* col_of_row, int* row_of_col, int2* pred, int* best, int* free_rows, price_t* alone_key, int* alone_root, uint64* words,
    int4* lists, Counts* counts
) {
    __shared__ Room room;
    __shared__ Shared shared;
    __shared__ price_t v_of_strip[THREADS * GROUPS];
    const Costs costs{n_rows, n_cols, cost, forbidden};
    const Alone alone{row_bound, alone_key, alone_root};
    Strip strip;
    const int share = ((n_cols + gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
    strip.first = min(blockIdx.x * share, n_cols);
    strip.width = min(share, n_cols - strip.first);
    const int rows_share = (n_rows + gridDim.x - 1) / gridDim.x;
    strip.first_row = min(blockIdx.x * rows_share, n_rows);
    strip.height = min(rows_share, n_rows - strip.first_row);
    strip.tiles = share / 32;
    strip.slots = GROUPS == 1 ? WARPS / strip.tiles : 1;
    Columns own;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        const bool mine = k < strip.width;
        own.v[g] = mine ? v[strip.first + k] : price_t(0);
        own.row[g] = mine ? row_of_col[strip.first + k] : FREE;
        v_of_strip[k] = own.v[g];
    }
    if (threadIdx.x == 0) shared.n_listed = shared.n_level = 0;
    __syncthreads();
    uint32 step = 0;
    int search = 0, n_levels = 0, n_updates = 0;
    int64 n_scanned = 0, search_ns = 0, augment_ns = 0;
    const bool speaks = blockIdx.x == 0 && threadIdx.x == 0;
    while (true) {
        const int n_free = load_fresh(&counts->free[search % 3]);
        int* const roots = free_rows + (search & 1) * n_rows;
        int* const next_roots = free_rows + (~search & 1) * n_rows;
        if (n_free == 0) break;
        const int64 began = nanoseconds();
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            own.key[g] = none();
            own.covered[g] = (int)(threadIdx.x + g * THREADS) >= strip.width;
            own.from[g] = Entry{FREE, FREE, FREE};
        }
        if (alone.bound != nullptr) {
            for (int k = threadIdx.x; k < strip.height; k += THREADS) alone.key[strip.first_row + k] = none();
            __syncthreads();
        }
        scan_roots(costs, r, roots, n_free, strip, v_of_strip, alone, own, room);
        if (alone.bound != nullptr) __syncthreads();
        n_scanned += n_free, n_levels += 1;

        price_t delta = 0;
        bool ended = false;
        while (true) {
            const Step all = exchange(own, alone, strip, ++step, words, lists, shared);
            if (all.key >= none() || (ended && all.key > delta)) break;
            n_updates += all.key > delta;
            delta = all.key;
            ended = ended || all.ends;
#pragma unroll
            for (int g = 0; g < GROUPS; ++g) {
                if (own.covered[g] || own.key[g] > delta) continue;
                own.covered[g] = true;
                pred[strip.first + threadIdx.x + g * THREADS] = make_int2(own.from[g].row, own.from[g].col);
                if (own.row[g] == FREE) atomicMin(&best[own.from[g].root], (int)(strip.first + threadIdx.x + g * THREADS));
            }
            if (alone.bound != nullptr) {
                for (int k = threadIdx.x; k < strip.height; k += THREADS) {
                    const int row = strip.first_row + k;
                    if (fresh_price(&alone.key[row]) > delta) continue;
                    alone.key[row] = none();
                    atomicMin(&best[alone.root[row]], n_cols + row);
                }
                __syncthreads();
            }
            if (all.count == 0) break;
            n_scanned += all.count, n_levels += 1;
            if (all.count == 1) {
                const price_t row_dual = fresh_price(&r[all.entry.row]);
                scan_one(costs, all.entry, row_dual, delta, strip, own);
                if (alone.bound != nullptr && threadIdx.x == 0) alone.consider(all.entry, row_dual, delta, strip);
                if (alone.bound != nullptr) __syncthreads();
            } else {
                scan_level(costs, r, all, strip, step, lists, v_of_strip, alone, own, shared, room);
            }
        }
        const int64 grown = nanoseconds();
        search_ns += grown - began;
        if (!ended) {
            if (speaks) counts->stuck = load_fresh(&roots[0]);
            break;
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (own.covered[g] && own.row[g] != FREE) {
                own.v[g] -= delta - own.key[g];
                v_of_strip[threadIdx.x + g * THREADS] = own.v[g];
            }
        grid_barrier(&counts->barrier);  // all ends and predecessors are known
        for (int q = global_thread(); q < n_free; q += all_threads()) {
            const int end = load_fresh(&best[load_fresh(&roots[q])]);
            if (end != NO_END) carry_out(end, n_cols, pred, col_of_row, row_of_col);
        }
        if (speaks) counts->free[(search + 2) % 3] = 0;
        grid_barrier(&counts->barrier);  // the matching is the next search's
        for (int q = global_thread(); q < n_free; q += all_threads()) {
            const int row = load_fresh(&roots[q]);
            if (load_fresh(&best[row]) == NO_END) {
                r[row] = fresh_price(&r[row]) + delta;
                next_roots[next_place(&counts->free[(search + 1) % 3])] = row;
            } else {
                best[row] = NO_END;
            }
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const int k = threadIdx.x + g * THREADS;
            if (k >= strip.width) continue;
            own.row[g] = load_fresh(&row_of_col[strip.first + k]);
            if (own.covered[g] && own.row[g] != FREE) r[own.row[g]] = (price_t)costs.row(own.row[g])[strip.first + k] - own.v[g];
        }
        grid_barrier(&counts->barrier);  // duals and free rows are the next search's
        if (speaks && search < 64) counts->paths[search] = n_free - load_fresh(&counts->free[(search + 1) % 3]);
        augment_ns += nanoseconds() - grown;
        ++search;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if ((int)(threadIdx.x + g * THREADS) < strip.width) v[strip.first + threadIdx.x + g * THREADS] = own.v[g];
    if (speaks) {
        counts->searches = search, counts->levels = n_levels, counts->dual_updates = n_updates;
        counts->rows_scanned = n_scanned, counts->search_ns = search_ns, counts->augment_ns = augment_ns;
    }
}
