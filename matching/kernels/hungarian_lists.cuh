// The lists of cheap pairs that the classical Hungarian method keeps for every row, and the words in which rows and columns
// are exchanged between blocks.
//
// A list holds the pairs of a row with the smallest c - v when it was written. `beyond` is the least c - v of what it leaves
// out: column duals only fall, so no pair that is left out ever comes below it, and until the search reaches that far the
// list is as good as the row.
#pragma once
#include "auction.cuh"

constexpr int AHEAD = 4;  // costs that a lane loads before it looks at the first: the row may lie on another device

#ifndef CAPACITY
#define CAPACITY 128  // pairs of a row's list
#endif

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

struct Costs {
    int n_rows, n_cols;
    const cost_t* __restrict__ cost;
    const unsigned char* __restrict__ forbidden;  // or null
    const int64* __restrict__ origins;  // (rows,) where each row's costs begin, in costs from `cost`; null: one after the other

    __device__ __forceinline__ price_t of(int64 at) const {
        if (forbidden != nullptr && forbidden[at]) return none();
        return (price_t)cost[at];
    }
    __device__ __forceinline__ int64 first(int row) const { return origins == nullptr ? (int64)row * n_cols : origins[row]; }
};

// One sector each, so that one trip to the L2 cache brings all of it.
struct __align__(32) Row {
    price_t r, beyond;
    price_t entered;  // the dual change at which the row entered the trees
    int col, listed;  // its link (FREE, WENT_ALONE), the length of its list
};
struct __align__(32) Column {
    uint64 key;  // bits of the dual change at which the column's slack is zero
    price_t v;
    int row;  // its link, or FREE
    int unused;
};

struct Lists {
    int* cols;      // (rows, CAPACITY)
    cost_t* costs;  // (rows, CAPACITY)

    __device__ __forceinline__ int64 first(int row) const { return (int64)row * CAPACITY; }
};

// Reads past the L1 cache, which other blocks' writes do not reach.
__device__ __forceinline__ void load_fresh(const uint64* at, uint64& a, uint64& b) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
__device__ __forceinline__ Row load_fresh(const Row* at) {
    uint64 r, beyond, entered, rest;
    load_fresh((const uint64*)at, r, beyond);
    load_fresh((const uint64*)at + 2, entered, rest);
    return Row{price_of(r), price_of(beyond), price_of(entered), (int)(uint32)rest, (int)(uint32)(rest >> 32)};
}
__device__ __forceinline__ Column load_fresh(const Column* at) {
    uint64 key, v, rest, unused;
    load_fresh((const uint64*)at, key, v);
    load_fresh((const uint64*)at + 2, rest, unused);
    return Column{key, price_of(v), (int)(uint32)rest, 0};
}

__device__ __forceinline__ price_t least_of_warp(price_t mine) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const price_t there = __shfl_xor_sync(FULL_WARP, mine, step);
        if (there < mine) mine = there;
    }
    return mine;
}

// List the row's pairs of c - v ≤ `reach`, in the order of columns, as many as the list holds. One warp.
__device__ __forceinline__ void list_below(const Costs& costs, const price_t* v, const Lists& lists, int row, price_t reach,
                                           int& listed, price_t& beyond) {
    const int64 first = costs.first(row), at = lists.first(row);
    price_t left = none();
    listed = 0;
    for (int base = 0; base < costs.n_cols; base += 32 * AHEAD) {
        price_t c[AHEAD], price[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const int j = base + u * 32 + lane();
            c[u] = j < costs.n_cols ? costs.of(first + j) : none();
            price[u] = j < costs.n_cols ? v[j] : price_t(0);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const price_t value = c[u] < none() ? c[u] - price[u] : none();
            const bool takes = value <= reach && value < none();
            const uint32 who = __ballot_sync(FULL_WARP, takes);
            const int place = listed + __popc(who & lanes_below());
            if (takes && place < CAPACITY) {
                lists.cols[at + place] = base + u * 32 + lane();
                lists.costs[at + place] = (cost_t)c[u];
            } else if (value < left) {
                left = value;
            }
            listed += __popc(who);
        }
    }
    listed = min(listed, CAPACITY);
    beyond = least_of_warp(left);
}
