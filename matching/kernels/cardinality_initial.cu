// Initial matchings on the GPU: `cheap` (simple greedy).
//
// Source: Duff, Kaya, Ucar (ACM TOMS 38(2), 2011), the start used by both papers of Deveci et al. (2013).
// Variables: row_of_col, col_of_row (-1 = free), free_rows (rows with an edge that found no column).
// Threads: LANES threads a row (1 for short rows, 32 where some row is long), rows in natural order, so that on ordered
// graphs neighbouring rows compete at about the same time as in the sequential heuristic.
// Bytes: per edge looked at 4 + 4; most rows look at one or two. Hazard: a column goes to whoever swaps first; the
// matching is maximal in every case.
// variant: -DINDEX64
#include "grid.cuh"

template <int LANES>
__device__ void cheap(const offset_t* indptr, const int* indices, int n_rows, int* row_of_col, int* col_of_row,
                      int* free_rows, int* n_free) {
    const uint32 group = LANES == 1 ? 1u << lane() : FULL_WARP;
    const int mine = threadIdx.x & (LANES - 1);
    for (int row = global_thread() / LANES; row < n_rows; row += all_threads() / LANES) {
        const offset_t begin = indptr[row], stop = indptr[row + 1];
        int gained = -1;
        for (offset_t first = begin; first < stop && gained < 0; first += LANES) {
            const offset_t k = first + mine;
            const int column = k < stop ? indices[k] : -1;
            bool free = column >= 0 && load_fresh(&row_of_col[column]) < 0;
            uint32 candidates = LANES == 1 ? (free ? group : 0u) : __ballot_sync(group, free);
            while (candidates != 0u && gained < 0) {
                const int chosen = __ffs(candidates) - 1;
                if (lane() == chosen && atomicCAS(&row_of_col[column], -1, row) == -1) gained = column;
                if (LANES > 1) gained = __shfl_sync(group, gained, chosen);
                candidates &= candidates - 1u;
            }
        }
        if (mine == 0) {
            col_of_row[row] = gained;
            if (gained < 0 && begin < stop) free_rows[next_place(n_free)] = row;
        }
    }
}

extern "C" __global__ void cardinality_initial_cheap_1(const offset_t* indptr, const int* indices, int n_rows,
                                                       int* row_of_col, int* col_of_row, int* free_rows,
                                                       int* n_free) {
    cheap<1>(indptr, indices, n_rows, row_of_col, col_of_row, free_rows, n_free);
}

extern "C" __global__ void cardinality_initial_cheap_32(const offset_t* indptr, const int* indices, int n_rows,
                                                        int* row_of_col, int* col_of_row, int* free_rows,
                                                        int* n_free) {
    cheap<32>(indptr, indices, n_rows, row_of_col, col_of_row, free_rows, n_free);
}

// The rows of a given matching that have an edge and no column.
extern "C" __global__ void cardinality_initial_free_rows(const offset_t* indptr, int n_rows, const int* col_of_row,
                                                         int* free_rows, int* n_free) {
    for (int row = global_thread(); row < n_rows; row += all_threads()) {
        if (col_of_row[row] < 0 && indptr[row] < indptr[row + 1]) free_rows[next_place(n_free)] = row;
    }
}
