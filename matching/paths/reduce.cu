// The initial reduction of dense costs.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), Algorithm 1. The paper gives a row or a column to one thread; here one block takes a row, and a column's minimum is
// taken over stripes of rows first, so that all reads are coalesced. Columns with a bound are at it and are not raised.
//
// Bytes: 4 or 8 per pair in either kernel. Memory: 8 * stripes per column. No hazards.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

__device__ __forceinline__ dual_t least(dual_t a, dual_t b) { return b < a ? b : a; }

// r_i = min(bound_i, min_j c_ij - v_j). One block of up to 1024 threads a row.
extern "C" __global__ void hungarian_reduce_rows(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                 const dual_t* row_bound, const dual_t* v, dual_t* r) {
    __shared__ dual_t of_warp[32];
    for (int row = blockIdx.x; row < n_rows; row += gridDim.x) {
        const int64 first = (int64)row * n_cols;
        dual_t mine = row_bound[row];
        for (int j = threadIdx.x; j < n_cols; j += blockDim.x)
            if (forbidden == nullptr || !forbidden[first + j]) mine = least(mine, (dual_t)cost[first + j] - v[j]);
#pragma unroll
        for (int step = 16; step > 0; step /= 2) mine = least(mine, __shfl_xor_sync(FULL_WARP, mine, step));
        if (lane() == 0) of_warp[threadIdx.x / 32] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < blockDim.x / 32; ++w) mine = least(mine, of_warp[w]);
            r[row] = mine;
        }
        __syncthreads();
    }
}

// minima[s, j] = min over the rows of stripe s of c_ij - r_i. One thread a column, one row of blocks a stripe.
extern "C" __global__ void hungarian_reduce_stripes(int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden,
                                                    const dual_t* r, dual_t* minima) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n_cols) return;
    dual_t mine = none();
#pragma unroll 8
    for (int row = blockIdx.y; row < n_rows; row += gridDim.y) {
        const int64 at = (int64)row * n_cols + j;
        if (forbidden == nullptr || !forbidden[at]) mine = least(mine, (dual_t)cost[at] - r[row]);
    }
    minima[(int64)blockIdx.y * n_cols + j] = mine;
}

// v_j = the least of the stripes, for columns without a bound and with a pair.
extern "C" __global__ void hungarian_reduce_columns(int n_cols, int stripes, const dual_t* minima, const dual_t* col_bound, dual_t* v) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n_cols || col_bound[j] < none()) return;
    dual_t mine = none();
    for (int s = 0; s < stripes; ++s) mine = least(mine, minima[(int64)s * n_cols + j]);
    if (mine < none()) v[j] = mine;
}
