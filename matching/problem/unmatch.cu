// Leaves matched rows, and their columns, alone: a thread a row.
#include "device/common.cuh"

constexpr int NOBODY = -1;

extern "C" __global__ void auction_unmatch(int n, const int* __restrict__ rows, int* col_of_row, int* row_of_col) {
    const int i = global_thread();
    if (i >= n) return;
    row_of_col[col_of_row[rows[i]]] = NOBODY;
    col_of_row[rows[i]] = NOBODY;
}
