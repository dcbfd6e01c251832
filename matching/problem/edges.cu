// What a graph that lies on a GPU must keep to, asked of all its edges at once: faults are looked for one by one only where
// there are some.
//
// LANES neighbouring lanes read the edges of one row. Bytes: 8 per row, 8 to 16 per edge.
// variant: -DINDEX=int64 -DCOST=double
// variant: -DINDEX=int64 -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

#ifndef INDEX
#define INDEX int
#endif

constexpr int LANES = 8;

// widths: (blocks,) columns of each block; fault: becomes 1 where a column is none of its block, or not above the one before,
// or a cost is not finite. All that find one write the same.
extern "C" __global__ void edges_checked(
    int n_rows, int n_blocks, const int64* row_offsets, const int64* widths, const int64* indptr, const INDEX* indices,
    const cost_t* cost, int* fault
) {
    const int row = (int)(((int64)blockIdx.x * blockDim.x + threadIdx.x) / LANES);
    if (row >= n_rows) return;
    int block = 0;
    for (int end = n_blocks; end - block > 1;) {
        const int middle = (block + end) / 2;
        if (row_offsets[middle] <= row)
            block = middle;
        else
            end = middle;
    }
    const int64 width = widths[block], first = indptr[row], end = indptr[row + 1];
    bool found = false;
    for (int64 e = first + threadIdx.x % LANES; e < end; e += LANES) {
        const int64 column = indices[e];
        found |= column < 0 || column >= width || (e > first && indices[e - 1] >= column);
#ifndef INTEGER
        found |= !(cost[e] - cost[e] == 0);
#endif
    }
    if (found) *fault = 1;
}
