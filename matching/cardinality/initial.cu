// Initial matchings on the GPU: `cheap` (simple greedy).
//
// Source: Duff, Kaya, Ucar (ACM TOMS 38(2), 2011), the start used by both papers of Deveci et al. (2013).
// Sequentially each row takes, in order, its first column that is free. That is the stable matching in which every row
// prefers early columns and every column prefers early rows, and a stable matching with one common preference is
// unique; so rows may bid in any order, a column keeps the earliest row, and the row it drops bids on. The result is
// that of the sequential heuristic, edge by edge, whatever the races. It matters: on ordered planar graphs the greedy
// matching whose races go to the fastest leaves 2.5 times as many rows free, and scattered.
//
// Variables: row_of_col (unsigned, 0xffffffff = free), free_rows (rows with an edge that found no column).
// Threads: LANES threads a row (1 for short rows, 32 where some row is long), rows in order, so few are dropped.
// Bytes: per edge looked at 4 + 4; most rows look at one or two. Hazards: none; the order of free_rows varies.
// variant: -DINDEX64
#include "device/common.cuh"

template <int LANES>
__device__ void cheap(const offset_t* indptr, const int* indices, int n_rows, uint32* row_of_col, int* free_rows,
                      int* n_free) {
    const uint32 group = LANES == 1 ? 1u << lane() : FULL_WARP;
    const int mine = threadIdx.x & (LANES - 1);
    for (int first_row = global_thread() / LANES; first_row < n_rows; first_row += all_threads() / LANES) {
        uint32 row = first_row;
        offset_t begin = indptr[row], stop = indptr[row + 1];
        if (begin == stop) continue;
        for (offset_t k = begin + mine; k - mine < stop;) {
            const int column = k < stop ? indices[k] : -1;
            const bool better =
                column >= 0 && static_cast<uint32>(load_fresh(reinterpret_cast<int*>(row_of_col) + column)) > row;
            uint32 candidates = LANES == 1 ? (better ? group : 0u) : __ballot_sync(group, better);
            uint32 dropped = row;  // row itself: nothing gained yet
            while (candidates != 0u && dropped == row) {
                const int chosen = __ffs(candidates) - 1;
                if (lane() == chosen) {
                    const uint32 holder = atomicMin(&row_of_col[column], row);
                    if (holder > row) dropped = holder;
                }
                if (LANES > 1) dropped = __shfl_sync(group, dropped, chosen);
                candidates &= candidates - 1u;
            }
            if (dropped == row) {
                k += LANES;
            } else if (dropped == 0xffffffffu) {
                row = dropped;
                break;
            } else {
                row = dropped;
                begin = indptr[row], stop = indptr[row + 1];
                k = begin + mine;
            }
        }
        if (mine == 0 && row != 0xffffffffu) free_rows[next_place(n_free)] = static_cast<int>(row);
    }
}

extern "C" __global__ void cardinality_initial_cheap_1(const offset_t* indptr, const int* indices, int n_rows,
                                                       uint32* row_of_col, int* free_rows, int* n_free) {
    cheap<1>(indptr, indices, n_rows, row_of_col, free_rows, n_free);
}

extern "C" __global__ void cardinality_initial_cheap_32(const offset_t* indptr, const int* indices, int n_rows,
                                                        uint32* row_of_col, int* free_rows, int* n_free) {
    cheap<32>(indptr, indices, n_rows, row_of_col, free_rows, n_free);
}

// col_of_row holds -1 everywhere before.
extern "C" __global__ void cardinality_initial_partners(int n_columns, const int* row_of_col, int* col_of_row) {
    for (int column = global_thread(); column < n_columns; column += all_threads()) {
        if (row_of_col[column] >= 0) col_of_row[row_of_col[column]] = column;
    }
}

// The rows of a given matching that have an edge and no column.
extern "C" __global__ void cardinality_initial_free_rows(const offset_t* indptr, int n_rows, const int* col_of_row,
                                                         int* free_rows, int* n_free) {
    for (int row = global_thread(); row < n_rows; row += all_threads()) {
        if (col_of_row[row] < 0 && indptr[row] < indptr[row + 1]) free_rows[next_place(n_free)] = row;
    }
}
