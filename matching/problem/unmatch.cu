// Leaves matched rows, and their columns, unassigned: a thread a row.
#include "device/common.cuh"

constexpr int NO_MEMBER = -1;

extern "C" __global__ void auction_unmatch(int n, const int* __restrict__ rows, int* col_of_row, int* row_of_col) {
    const int i = global_thread();
    if (i >= n) return;
    row_of_col[col_of_row[rows[i]]] = NO_MEMBER;
    col_of_row[rows[i]] = NO_MEMBER;
}
