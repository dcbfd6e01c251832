// What the auction's kernels share: number types, the edges of a row, and a row's choice of its best and second best.
//
// Costs are minimised; what the papers call a rising price p_j is a falling column dual v_j = -p_j. A row's value
// of a column is c_ij - v_j, and its value of staying unassigned is its bound. Compile with -DCOST=float, double, int or
// int64; the integers also with -DINTEGER, whose duals are int64, the others' double. -DDENSE: edge e of a row is
// column e of its matrix.
#pragma once
#include "device/common.cuh"

#ifndef COST
#define COST float
#endif
typedef COST cost_t;
#ifdef INTEGER
typedef int64 dual_t;
#else
typedef double dual_t;
#endif

enum : int { NO_MEMBER = -1 };
// The thread's number when warps are dealt out to the blocks in turn: a short queue then uses every multiprocessor.
__device__ __forceinline__ int dealt_thread() {
    return ((threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + lane();
}

constexpr int NO_EDGE = 0x7fffffff;
constexpr int UNASSIGNED = -1;  // as an edge: before every other, so that ties leave a row unassigned

// No bound, no column: +inf, or 2^62 in integers.
__device__ __forceinline__ dual_t none() {
#ifdef INTEGER
    return 1LL << 62;
#else
    return __longlong_as_double(0x7ff0000000000000LL);
#endif
}

// Duals as words; those of what is never negative are in their order.
__device__ __forceinline__ uint64 bits_of(dual_t x) {
#ifdef INTEGER
    return (uint64)x;
#else
    return (uint64)__double_as_longlong(x);
#endif
}
__device__ __forceinline__ dual_t from_bits(uint64 bits) {
#ifdef INTEGER
    return (dual_t)bits;
#else
    return __longlong_as_double((int64)bits);
#endif
}

struct Graph {
    const int64* __restrict__ indptr;             // (rows + 1,); unused when dense
    const int* __restrict__ indices;              // (edges,) columns, ascending within a row; unused when dense
    const cost_t* __restrict__ cost;              // (edges,)
    const unsigned char* __restrict__ forbidden;  // (edges,) or null
    int width, block_rows;  // dense: columns and rows of each matrix; matrices lie one after the other

    __device__ __forceinline__ int64 first(int row) const {
#ifdef DENSE
        return (int64)row * width;
#else
        return indptr[row];
#endif
    }
    __device__ __forceinline__ int degree(int row) const {
#ifdef DENSE
        return width;
#else
        return (int)(indptr[row + 1] - indptr[row]);
#endif
    }
    __device__ __forceinline__ int column(int64 first, int edge) const {
#ifdef DENSE
        return edge + (int)(first / ((int64)block_rows * width)) * width;
#else
        return indices[first + edge];
#endif
    }
    __device__ __forceinline__ dual_t cost_of(int64 first, int edge) const {
        if (forbidden != nullptr && forbidden[first + edge]) return none();
        return (dual_t)cost[first + edge];
    }
    // c - v, `none()` for a forbidden pair.
    __device__ __forceinline__ dual_t value(int64 first, int edge, const dual_t* v) const {
        const dual_t c = cost_of(first, edge);
        return c < none() ? c - v[column(first, edge)] : none();
    }
};

// A row's two best choices; edges are counted within the row and break ties.
struct Choice {
    dual_t best, second;
    int best_edge, second_edge;
};

__device__ __forceinline__ bool comes_before(dual_t a, int edge_a, dual_t b, int edge_b) {
    return a < b || (a == b && edge_a < edge_b);
}

// What lane `first` of a row's lanes knows at the start: the unmatched cost; the others know nothing.
__device__ __forceinline__ Choice no_choice(bool first, dual_t bound) {
    return first ? Choice{bound, none(), UNASSIGNED, NO_EDGE} : Choice{none(), none(), NO_EDGE, NO_EDGE};
}

__device__ __forceinline__ void consider(Choice& choice, dual_t value, int edge) {
    if (comes_before(value, edge, choice.best, choice.best_edge)) {
        choice.second = choice.best, choice.second_edge = choice.best_edge;
        choice.best = value, choice.best_edge = edge;
    } else if (comes_before(value, edge, choice.second, choice.second_edge)) {
        choice.second = value, choice.second_edge = edge;
    }
}

__device__ __forceinline__ Choice merged(Choice a, dual_t best, dual_t second, int best_edge, int second_edge) {
    if (comes_before(best, best_edge, a.best, a.best_edge)) {
        if (comes_before(a.best, a.best_edge, second, second_edge)) second = a.best, second_edge = a.best_edge;
        return Choice{best, second, best_edge, second_edge};
    }
    if (comes_before(best, best_edge, a.second, a.second_edge)) a.second = best, a.second_edge = best_edge;
    return a;
}

// The choice of `lanes` neighbouring lanes together, known to all of them. The whole warp must come.
template <int lanes>
__device__ __forceinline__ Choice agreed(Choice c) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
        const dual_t best = __shfl_xor_sync(FULL_WARP, c.best, step),
                      second = __shfl_xor_sync(FULL_WARP, c.second, step);
        const int best_edge = __shfl_xor_sync(FULL_WARP, c.best_edge, step);
        const int second_edge = __shfl_xor_sync(FULL_WARP, c.second_edge, step);
        c = merged(c, best, second, best_edge, second_edge);
    }
    return c;
}

// The least of what is known and of c - v over a row's pairs, by `lanes` neighbouring lanes, known to all of them. NO_MEMBER has no
// pairs. The whole warp must come.
template <int lanes>
__device__ __forceinline__ dual_t least_value(const Graph& graph, const dual_t* v, int row, dual_t least) {
    const int64 first = row == NO_MEMBER ? 0 : graph.first(row);
    const int degree = row == NO_MEMBER ? 0 : graph.degree(row);
    for (int e = threadIdx.x % lanes; e < degree; e += lanes) {
        const dual_t value = graph.value(first, e, v);
        if (value < least) least = value;
    }
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
        const dual_t there = __shfl_xor_sync(FULL_WARP, least, step);
        least = there < least ? there : least;
    }
    return least;
}

// The key by which a column compares bids: the larger increment wins, then the smaller row. The increment is
// rounded to float: any bidder may win, since each pays its own exact price. 0 = no bid.
__device__ __forceinline__ uint64 bid_key(dual_t increment, int row) {
    return ((uint64)__float_as_uint((float)increment) << 32) | (0xffffffffu - (uint32)row);
}
__device__ __forceinline__ int bidder(uint64 key) { return (int)(0xffffffffu - (uint32)key); }
