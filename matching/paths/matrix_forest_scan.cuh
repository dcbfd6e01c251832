// The alternating-tree kernel: what a level's rows do to the columns of a block, and to rows that may stay unassigned. See
// paths/matrix_forest.cu.
#pragma once
#include "paths/matrix_forest_state.cuh"

struct Strip {
    int first, width;  // columns
    int first_row, height;
    int tiles, slots;
};

__device__ __forceinline__ void improve(dual_t slack, const Origin& origin, dual_t& least, Origin& from) {
    if (slack > least) return;
    if (slack < least || origin.row < from.row) least = slack, from = origin;
}

__device__ __forceinline__ dual_t key_of(dual_t delta, dual_t slack) { return delta + (slack > 0 ? slack : dual_t(0)); }

// Least slack of column `col` to the level's rows slot, slot + slots, ... below `count`.
template <int UNROLLED>
__device__ __forceinline__ void scan_column(const Costs& costs, const Level& level, int count, int slot, int slots, int col, dual_t v,
                                            dual_t& least, Origin& from) {
    for (int at = slot; at < count; at += UNROLLED * slots) {
        cost_t c[UNROLLED];
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) c[u] = __ldcs(costs.cost + level.first[min(at + u * slots, count - 1)] + col);
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) {
            const int q = min(at + u * slots, count - 1);
            if (costs.forbidden != nullptr && costs.forbidden[level.first[q] + col]) continue;
            const dual_t slack = (dual_t)c[u] - v - level.r[q];
            if (slack <= least) improve(slack, level.origin[q], least, from);
        }
    }
}

// A home thread takes over what the level has for its column, where it is below the key that it has.
__device__ __forceinline__ void take_over(Columns& own, int g, dual_t delta, dual_t least, const Origin& from) {
    if (own.covered[g] || least >= none()) return;
    const dual_t key = key_of(delta, least);
    if (key < own.key[g]) own.key[g] = key, own.from[g] = from;
}

// A level of few rows, in shared memory.
__device__ __forceinline__ void scan_few(const Costs& costs, const Level& level, int count, dual_t delta, const Strip& strip, Columns& own) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        if (k >= strip.width) continue;
        dual_t least = none();
        Origin from{FREE, FREE, FREE};
        if (count <= 4)
            scan_column<4>(costs, level, count, 0, 1, strip.first + k, own.v[g], least, from);
        else
            scan_column<FEW>(costs, level, count, 0, 1, strip.first + k, own.v[g], least, from);
        take_over(own, g, delta, least, from);
    }
}

// A single row.
__device__ __forceinline__ void scan_one(const Costs& costs, const Entry& entry, dual_t delta, const Strip& strip, Columns& own) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        if (k >= strip.width || own.covered[g] || costs.forbids(entry.row, strip.first + k)) continue;
        take_over(own, g, delta, (dual_t)costs.row(entry.row)[strip.first + k] - own.v[g] - entry.r, Origin{entry.row, entry.col, entry.root});
    }
}

// What a thread has found for the columns that it looks at in a level of many rows.
struct Found {
    dual_t least[GROUPS];
    Origin from[GROUPS];
};

__device__ __forceinline__ Found found_nothing() {
    Found found;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) found.least[g] = none(), found.from[g] = Origin{FREE, FREE, FREE};
    return found;
}

// A part of a level of many rows.
__device__ __forceinline__ void scan_part(const Costs& costs, const Level& level, int count, const Strip& strip, const dual_t* v_of_strip,
                                          Found& found) {
    const int warp = threadIdx.x / 32;
    const int slot = GROUPS == 1 ? warp / strip.tiles : 0;
    if (slot >= strip.slots) return;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = (GROUPS == 1 ? (warp % strip.tiles) * 32 : warp * 32 + g * THREADS) + lane();
        if (k < strip.width)
            scan_column<UNROLL>(costs, level, count, slot, strip.slots, strip.first + k, v_of_strip[k], found.least[g], found.from[g]);
    }
}

// The home threads gather what all slots found.
__device__ __forceinline__ void merge(Columns& own, Share& share, dual_t delta, const Strip& strip, Found& found) {
    if (GROUPS == 1 && strip.slots > 1) {
        const int columns = strip.tiles * 32;
        if ((int)threadIdx.x < columns * strip.slots) share.slack[threadIdx.x] = found.least[0], share.from[threadIdx.x] = found.from[0];
        __syncthreads();
        if ((int)threadIdx.x < columns)
            for (int at = columns + threadIdx.x; at < columns * strip.slots; at += columns)
                improve(share.slack[at], share.from[at], found.least[0], found.from[0]);
        __syncthreads();
        if ((int)threadIdx.x >= columns) return;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) take_over(own, g, delta, found.least[g], found.from[g]);
}

// Rows that may stay unassigned, in global memory; each is written and read by the block whose strip of rows it is in.
struct AtBound {
    const dual_t* __restrict__ bound;  // or null when no row may stay unassigned
    dual_t* key;
    int* root;

    __device__ __forceinline__ void consider(int row, int root_of_row, dual_t r, dual_t delta, const Strip& strip) const {
        const int k = row - strip.first_row;
        if (k < 0 || k >= strip.height || bound[row] >= none()) return;
        root[row] = root_of_row;
        key[row] = key_of(delta, bound[row] - r);
    }
    __device__ __forceinline__ void consider_all(const Level& level, int count, dual_t delta, const Strip& strip) const {
        if (bound == nullptr) return;
        for (int q = threadIdx.x; q < count; q += THREADS) consider(level.origin[q].row, level.origin[q].root, level.r[q], delta, strip);
    }
};
