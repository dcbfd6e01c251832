// The lists of cheap pairs that the classical Hungarian method keeps for every row, and the words in which rows and columns
// are exchanged between blocks.
//
// A list holds the pairs of a row with the smallest c - v when it was written. `beyond` is the least c - v of what it leaves
// out: column duals only fall, so no pair that is left out ever comes below it, and until the search reaches that far the
// list is as good as the row.
#pragma once
#include "problem/graph.cuh"

constexpr int FREE = -1, LEFT_UNASSIGNED = -2;
constexpr int LEAST_CAPACITY = 128;

struct Costs {
    int n_rows, n_cols;
    const cost_t* __restrict__ cost;
    const unsigned char* __restrict__ forbidden;  // or null
    const int64* __restrict__ origins;  // (rows,) where each row's costs begin, in costs from `cost`; null: one after the other

    __device__ __forceinline__ dual_t of(int64 at) const {
        if (forbidden != nullptr && forbidden[at]) return none();
        return (dual_t)cost[at];
    }
    __device__ __forceinline__ int64 first(int row) const { return origins == nullptr ? (int64)row * n_cols : origins[row]; }
};

// With -DONE_BLOCK one block solves the problem, and its rows and columns are in shared memory, without padding to a power of two: that
// would put the same member of all into few banks. Else they are one sector each, so that one trip to the L2 cache brings all of it.
#ifdef ONE_BLOCK
#define SECTOR
#else
constexpr int SECTOR_BYTES = 32;
#define SECTOR __align__(SECTOR_BYTES)
#endif
struct SECTOR Row {
    dual_t r, beyond;
    dual_t entered;  // the dual change at which the row entered the trees
    int col, listed;  // its matched edge (FREE, LEFT_UNASSIGNED), the length of its list
#ifdef ONE_BLOCK
    uint64 unused;
#endif
};
struct SECTOR Column {
    uint64 key;  // bits of the dual change at which the column's slack is zero
    dual_t v;
    int row;  // its matched edge, or FREE
    int unused;
};
#ifndef ONE_BLOCK
static_assert(sizeof(Row) == SECTOR_BYTES && sizeof(Column) == SECTOR_BYTES, "rows and columns are a sector each");
#endif

struct Lists {
    int capacity;   // of a row's list: LEAST_CAPACITY or more
    int* cols;      // (rows, capacity)
    cost_t* costs;  // (rows, capacity)

    __device__ __forceinline__ int64 first(int row) const { return (int64)row * capacity; }
};

// Reads and writes of what other threads may change meanwhile. Past the L1 cache, unless all of them are of one block.
#ifdef ONE_BLOCK
template <typename T>
__device__ __forceinline__ T peek(const T* at) {
    return *(const volatile T*)at;
}
__device__ __forceinline__ void poke(int* at, int value) { *(volatile int*)at = value; }
__device__ __forceinline__ Row peek(const Row* at) {
    return Row{peek(&at->r), peek(&at->beyond), peek(&at->entered), peek(&at->col), peek(&at->listed), 0};
}
__device__ __forceinline__ Column peek(const Column* at) { return Column{peek(&at->key), peek(&at->v), peek(&at->row), 0}; }
#else
template <typename T>
__device__ __forceinline__ T peek(const T* at) {
    return load_fresh(at);
}
__device__ __forceinline__ void poke(int* at, int value) { store_fresh(at, value); }
__device__ __forceinline__ void load_fresh(const uint64* at, uint64& a, uint64& b) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
__device__ __forceinline__ Row peek(const Row* at) {
    uint64 r, beyond, entered, rest;
    load_fresh((const uint64*)at, r, beyond);
    load_fresh((const uint64*)at + 2, entered, rest);
    return Row{from_bits(r), from_bits(beyond), from_bits(entered), (int)(uint32)rest, (int)(uint32)(rest >> 32)};
}
__device__ __forceinline__ Column peek(const Column* at) {
    uint64 key, v, rest, unused;
    load_fresh((const uint64*)at, key, v);
    load_fresh((const uint64*)at + 2, rest, unused);
    return Column{key, from_bits(v), (int)(uint32)rest, 0};
}
#endif

__device__ __forceinline__ dual_t least_of_warp(dual_t mine) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const dual_t there = __shfl_xor_sync(FULL_WARP, mine, step);
        if (there < mine) mine = there;
    }
    return mine;
}

constexpr int BEST = 4;
static_assert(32 * (BEST - 1) <= LEAST_CAPACITY, "a list holds what all lanes may give it");

// The smallest pairs that a lane has seen, in order.
struct Smallest {
    dual_t value[BEST];
    int col[BEST];

    __device__ __forceinline__ void consider(dual_t x, int j) {
        if (!(x < value[BEST - 1])) return;
        value[BEST - 1] = x, col[BEST - 1] = j;
#pragma unroll
        for (int k = BEST - 1; k > 0; --k)
            if (value[k] < value[k - 1]) {
                const dual_t above = value[k - 1];
                const int above_col = col[k - 1];
                value[k - 1] = value[k], col[k - 1] = col[k];
                value[k] = above, col[k] = above_col;
            }
    }
};

// The list of a row's pairs with the smallest c - v. One warp. Every lane keeps the BEST smallest of the columns that it looks
// at; what lies below the least of the lanes' largest is complete: 35 pairs or so with 4.
__device__ __forceinline__ void list_smallest(const Costs& costs, const dual_t* v, const Lists& lists, int row, Row* rows) {
    const int64 first = costs.first(row), at = lists.first(row);
    Smallest mine;
#pragma unroll
    for (int k = 0; k < BEST; ++k) mine.value[k] = none(), mine.col[k] = 0;
    int j = lane();
    for (; j + 7 * 32 < costs.n_cols; j += 8 * 32) {
        dual_t x[8];
#pragma unroll
        for (int u = 0; u < 8; ++u) x[u] = costs.of(first + j + u * 32);
#pragma unroll
        for (int u = 0; u < 8; ++u)
            if (x[u] < none()) mine.consider(x[u] - v[j + u * 32], j + u * 32);
    }
    for (; j < costs.n_cols; j += 32) {
        const dual_t c = costs.of(first + j);
        if (c < none()) mine.consider(c - v[j], j);
    }
    const dual_t beyond = least_of_warp(mine.value[BEST - 1]);
    int listed = 0;
#pragma unroll
    for (int k = 0; k < BEST; ++k) {
        const bool takes = mine.value[k] < beyond;
        const uint32 ballot = __ballot_sync(FULL_WARP, takes);
        if (takes) {
            const int place = listed + __popc(ballot & lanes_below());
            lists.cols[at + place] = mine.col[k];
            lists.costs[at + place] = costs.cost[first + mine.col[k]];
        }
        listed += __popc(ballot);
    }
    if (lane() == 0) rows[row].beyond = beyond, rows[row].listed = listed;
}

// What the threads of a block need to list a row together.
struct Listing {
    int listed;
    dual_t left[32];
};

// Lists the row's pairs of c - v ≤ `reach`, as many as the list holds. All threads of the block.
__device__ __forceinline__ void list_below(const Costs& costs, const dual_t* v, const Lists& lists, int row, dual_t reach, Listing& room,
                                           Row& known) {
    const int64 first = costs.first(row), at = lists.first(row);
    if (threadIdx.x == 0) room.listed = 0;
    __syncthreads();
    dual_t left = none();
#pragma unroll 4
    for (int j = threadIdx.x; j < costs.n_cols; j += blockDim.x) {
        const dual_t c = costs.of(first + j);
        if (!(c < none())) continue;
        const dual_t value = c - v[j];
        const int place = value <= reach ? next_place(&room.listed) : lists.capacity;
        if (place < lists.capacity) {
            lists.cols[at + place] = j;
            lists.costs[at + place] = (cost_t)c;
        } else if (value < left) {
            left = value;
        }
    }
    left = least_of_warp(left);
    if (lane() == 0) room.left[threadIdx.x / 32] = left;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / 32; ++w)
        if (room.left[w] < left) left = room.left[w];
    known.beyond = left;
    known.listed = min(room.listed, lists.capacity);
    __syncthreads();
}
