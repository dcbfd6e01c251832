// What the kernels for batches share: where a problem lies, and its reduction.
#pragma once
#include "hungarian/lists.cuh"

struct Place {
    int64 first_row, first_col, first_cost;
    int n_rows, n_cols;
};

__device__ __forceinline__ dual_t least_of_row(const Costs& costs, int i, const dual_t* v) {
    dual_t mine = none();
#pragma unroll 4
    for (int j = lane(); j < costs.n_cols; j += 32) {
        const dual_t c = costs.of(costs.first(i) + j);
        if (c < none() && c - v[j] < mine) mine = c - v[j];
    }
    return least_of_warp(mine);
}
// Algorithm 1: the largest row duals for columns at their bound or 0, then the largest duals of the columns without a bound.
__device__ __forceinline__ void reduce(const Costs& costs, const dual_t* row_bound, const dual_t* col_bound, dual_t* v, dual_t* r) {
    for (int j = threadIdx.x; j < costs.n_cols; j += blockDim.x) v[j] = col_bound[j] < none() ? col_bound[j] : dual_t(0);
    __syncthreads();
    for (int i = threadIdx.x / 32; i < costs.n_rows; i += blockDim.x / 32) {
        const dual_t least = least_of_row(costs, i, v), bound = row_bound != nullptr ? row_bound[i] : none();
        if (lane() == 0) r[i] = bound < least ? bound : least;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < costs.n_cols; j += blockDim.x) {
        if (col_bound[j] < none()) continue;
        dual_t mine = none();
#pragma unroll 8
        for (int i = 0; i < costs.n_rows; ++i) {
            const dual_t c = costs.of(costs.first(i) + j);
            if (c < none() && c - r[i] < mine) mine = c - r[i];
        }
        if (mine < none()) v[j] = mine;
    }
    __syncthreads();
}
