// By how much rows pay more than their least, the unmatched costs of columns taken off; as `above_least.py` on the CPU, for
// real costs. A block of threads a row, as one warp alone would wait for each of its reads. The difference of two costs is
// exact as a pair of floats, and so is what decides.
//
// Bytes: 12 to 16 per edge of the rows looked at. No two blocks write the same place.
// variant: -DCOST=double
// variant: -DCOST=double -DDENSE
#include "problem/graph.cuh"

constexpr int MOST_THREADS = 256;

// A number as high + low, the low part below half an ulp of the high one.
struct Pair {
    double high, low;
};

__device__ __forceinline__ Pair difference(double a, double b) {
    const double high = a - b, taken = a - high;
    return Pair{high, (a - (high + taken)) + (taken - b)};
}

__device__ __forceinline__ Pair lower(Pair a, Pair b) {
    return b.high < a.high || (b.high == a.high && b.low < a.low) ? b : a;
}

__device__ __forceinline__ Pair lowest_of_warp(Pair mine) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        mine = lower(mine, Pair{__shfl_xor_sync(FULL_WARP, mine.high, step), __shfl_xor_sync(FULL_WARP, mine.low, step)});
    return mine;
}

// rows: which to look at, one a block of threads; above: as many. has_unmatched_cost: the bounds of columns are that.
extern "C" __global__ void rows_above_least(
    const int64* rows, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden, int width,
    int block_rows, const double* row_bound, const double* col_bound, const int* col_of_row, int has_unmatched_cost,
    double* above
) {
    __shared__ Pair least_of[MOST_THREADS / 32], pays_of[MOST_THREADS / 32];
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int row = (int)rows[blockIdx.x], partner = col_of_row[row];
    const int64 first = graph.first(row);
    const int degree = graph.degree(row);
    Pair least{row_bound[row], 0}, pays{partner == NO_MEMBER ? row_bound[row] : none(), 0};
    for (int e = threadIdx.x; e < degree; e += blockDim.x) {
        const double c = graph.cost_of(first, e);
        const int col = graph.column(first, e);
        if (c == none()) continue;
        const Pair here = difference(c, has_unmatched_cost ? col_bound[col] : 0.0);
        least = lower(least, here);
        if (col == partner) pays = here;
    }
    least = lowest_of_warp(least), pays = lowest_of_warp(pays);
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane() == 0) least_of[warp] = least, pays_of[warp] = pays;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int k = 1; k < warps; ++k) least = lower(least, least_of[k]), pays = lower(pays, pays_of[k]);
    // A row that is unassigned though it must not be pays no sum.
    above[blockIdx.x] = pays.high < none() ? (pays.high - least.high) + (pays.low - least.low) : 0;
}
