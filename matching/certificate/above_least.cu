// By how much rows pay more than their least, the prices of columns taken off; as `above_least.py` on the CPU, for real costs.
// A warp takes the rows of a block, or of a part of a problem by itself, one after the other until `enough`: of most
// problems the first few do. A cost less a price is exact as a pair of floats, and so is what decides.
//
// Bytes: 12 to 16 per edge of the rows looked at. No two threads write the same place.
// variant: -DCOST=double
// variant: -DCOST=double -DDENSE
#include "problem/graph.cuh"

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

// row_offsets: (blocks + 1,), enough, above: (blocks,). priced: columns have prices, their bounds.
extern "C" __global__ void rows_above_least(
    int n_blocks, const int64* row_offsets, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows, const double* row_bound, const double* col_bound,
    const int* col_of_row, int priced, const double* enough, double* above
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int b = global_thread() / 32;
    if (b >= n_blocks) return;
    double sum = 0;
    for (int64 row = row_offsets[b]; row < row_offsets[b + 1] && sum < enough[b]; ++row) {
        const int64 first = graph.first(row);
        const int degree = graph.degree(row), partner = col_of_row[row];
        Pair least{none(), 0}, pays{none(), 0};
        if (lane() == 0) {
            least.high = row_bound[row];
            if (partner == NO_MEMBER) pays = least;
        }
        for (int e = lane(); e < degree; e += 32) {
            const double c = graph.cost_of(first, e);
            if (c == none()) continue;
            const int col = graph.column(first, e);
            const Pair here = difference(c, priced ? col_bound[col] : 0.0);
            least = lower(least, here);
            if (col == partner) pays = here;
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            least = lower(least, Pair{__shfl_xor_sync(FULL_WARP, least.high, step), __shfl_xor_sync(FULL_WARP, least.low, step)});
            pays = lower(pays, Pair{__shfl_xor_sync(FULL_WARP, pays.high, step), __shfl_xor_sync(FULL_WARP, pays.low, step)});
        }
        // A row that is unassigned though it must not be pays no sum.
        if (pays.high < none()) sum += (pays.high - least.high) + (pays.low - least.low);
    }
    if (lane() == 0) above[b] = sum;
}
