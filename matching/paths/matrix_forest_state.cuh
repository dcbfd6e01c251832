// What the alternating-tree kernel for dense costs works on: words that are exchanged whole, columns, levels, arrays. See
// paths/matrix_forest.cu.
#pragma once
#include "problem/graph.cuh"

#ifndef GROUPS
#define GROUPS 1
#endif
#ifndef THREADS
#define THREADS 512
#endif
constexpr int WARPS = THREADS / 32;
constexpr int UNROLL = GROUPS == 1 ? 16 : 8;  // loads of a thread in flight
constexpr int CHUNK = 768;  // rows of a level in shared memory at once
constexpr int FEW = UNROLL;  // rows of a level that the home threads scan without help
constexpr int FREE = -1, LEFT_UNASSIGNED = -2;
constexpr int MAX_BLOCKS = 256;

__device__ __forceinline__ void store_words(uint64* at, uint64 a, uint64 b) {
    asm volatile("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w;}" ::"l"(at), "l"(a), "l"(b) : "memory");
}
__device__ __forceinline__ void load_words(const uint64* at, uint64& a, uint64& b) {
    asm volatile("{.reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w;}" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
__device__ __forceinline__ dual_t fresh_dual(const dual_t* at) { return from_bits(load_fresh((const uint64*)at)); }

// A row that enters the trees: the column it is matched with (FREE for a root), its root, its dual.
struct Entry {
    int row, col, root;
    dual_t r;
};
__device__ __forceinline__ Entry no_entry() { return Entry{FREE, FREE, FREE, 0}; }

// What a warp, a block or the whole grid has found: the least key, how many rows enter with it, one of them, and whether
// it is a sink.
struct Step {
    dual_t key;
    Entry entry;
    int count;
    int is_sink;
};

// Keys are never negative, so their bits are in their order, of real numbers too.
__device__ __forceinline__ dual_t least_of_warp(dual_t key) {
#if __CUDA_ARCH__ >= 800
    const uint64 bits = bits_of(key);
    const uint32 high = __reduce_min_sync(FULL_WARP, (uint32)(bits >> 32));
    const uint32 low = __reduce_min_sync(FULL_WARP, (uint32)(bits >> 32) == high ? (uint32)bits : 0xffffffffu);
    return from_bits((uint64)high << 32 | low);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const dual_t there = __shfl_xor_sync(FULL_WARP, key, step);
        key = there < key ? there : key;
    }
    return key;
#endif
}
__device__ __forceinline__ Entry entry_of_lane(const Entry& e, int from) {
    return Entry{__shfl_sync(FULL_WARP, e.row, from), __shfl_sync(FULL_WARP, e.col, from), __shfl_sync(FULL_WARP, e.root, from),
                 __shfl_sync(FULL_WARP, e.r, from)};
}

// The steps of the lanes together, known to all of them.
__device__ __forceinline__ Step together(const Step& mine) {
    Step all;
    all.key = least_of_warp(mine.key);
    const bool least = mine.key == all.key && all.key < none();
    const uint32 with_row = __ballot_sync(FULL_WARP, least && mine.count > 0);
    all.is_sink = __any_sync(FULL_WARP, least && mine.is_sink);
    all.count = 0;
    all.entry = no_entry();
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

// The row, its matched column and its root by which a column was reached.
struct Origin {
    int row, col, root;
};

// The columns of a home thread: their duals and keys, the rows they are matched with (or FREE) and those rows' duals.
struct Columns {
    dual_t v[GROUPS], key[GROUPS], r[GROUPS];
    int row[GROUPS];
    Origin from[GROUPS];
    bool covered[GROUPS];
};

// A part of one level's rows, and what the warps that share a tile found for its columns.
struct Level {
    int64 first[CHUNK];  // of the row's costs
    dual_t r[CHUNK];
    Origin origin[CHUNK];

    __device__ __forceinline__ void put(int at, const Entry& e, int n_cols) {
        first[at] = (int64)e.row * n_cols;
        r[at] = e.r;
        origin[at] = Origin{e.row, e.col, e.root};
    }
};
struct Share {
    dual_t slack[THREADS];
    Origin from[THREADS];
};
union Scratch {  // of a block: what a level reads, then what its threads found
    Level level;
    Share share;
};

struct Counts {
    int free[3];  // length of the list of free rows, by search modulo 3
    int infeasible_row;    // a free row from which nothing can be reached, or -1
    uint32 barrier;
    int searches, levels, dual_updates;
    int64 rows_scanned, search_ns, augment_ns;
};

// The arrays of a solve.
struct Solve {
    const cost_t* cost;              // (rows, columns)
    const unsigned char* forbidden;  // or null
    const dual_t* row_bound;        // or null when no row may stay unassigned
    dual_t* v;                      // (columns,)
    dual_t* r;                      // (rows,)
    int* col_of_row;                 // (rows,)
    int* row_of_col;                 // (columns,)
    int* free_rows;                  // two lists of n_rows; the first holds counts->free[0] rows
    dual_t* unassigned_key;         // (rows,), if row_bound is given
    int* unassigned_root;
    int2* pred;             // (columns,)
    int* best;              // (rows,) all NO_SINK
    uint64* message_slots;  // (2, blocks, MESSAGE_WORDS) zeros
    uint64* lists;          // (2, blocks, THREADS * GROUPS, LISTED) zeros
    Counts* counts;
};
