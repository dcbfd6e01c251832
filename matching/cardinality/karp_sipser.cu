// Initial matching on the GPU: `karp-sipser`.
//
// Source: Karp, Sipser (FOCS 1981); Duff, Kaya, Ucar (ACM TOMS 38(2), 2011). A vertex with one free neighbour left is
// matched to it, which costs nothing; only when there is none, one in `share` of the free rows propose to their free
// column of lowest degree, and each column takes the proposer of lowest degree. The larger `share`, the closer to the
// sequential heuristic and the more rounds.
//
// Variables: row_total, column_total = (free neighbours << 32) + sum of their numbers, exact in 64 bits, so a vertex
// of degree one names its neighbour without a search; forced: vertices of degree one (columns from n_rows on), every
// vertex at most once; live: free rows that still have a neighbour; best: lowest (degree, row) that proposed to a
// column; counts: see Counts.
// Threads: a warp a vertex; all rounds in one cooperative launch. Bytes: each edge is read about twice from each side.
// Hazards: of the vertices forced to one partner the first swap wins; a row and a column forced to each other both
// write the same pair. Which maximal matching comes out depends on races.
// variant: -DINDEX64
#include "device/common.cuh"

constexpr uint64 ONE = 1ull << 32;
constexpr uint64 NO_MEMBER = ~0ull;

struct Side {
    const offset_t* indptr;
    const int* indices;
    uint64* total;
    int* partner;
    int first;  // number of its first vertex in `forced`
    int n;
};

struct Counts {
    int forced;      // entries of `forced` ever made
    int live[2];     // lengths of the two lists
    uint32 arrived;
};

__device__ __forceinline__ int degree_of(uint64 total) { return static_cast<int>(total >> 32); }

// Takes `gone` (a vertex of `of`) out of its neighbours' totals; those left with one neighbour are forced next.
__device__ void remove(const Side& of, const Side& other, int gone, int* forced, Counts* counts) {
    for (offset_t k = of.indptr[gone] + lane(); k < of.indptr[gone + 1]; k += 32) {
        const int neighbor = of.indices[k];
        const uint64 amount = ONE + static_cast<uint64>(gone);
        const uint64 left = atomicAdd(&other.total[neighbor], ~amount + 1ull) - amount;
        if (degree_of(left) == 1 && load_fresh(&other.partner[neighbor]) < 0) {
            forced[next_place(&counts->forced)] = other.first + neighbor;
        }
    }
}

__device__ void match_forced(const Side& own, const Side& other, int vertex, int* forced, Counts* counts) {
    int only = -1;  // one lane decides: others change what it reads
    if (lane() == 0) {
        const uint64 total = load_fresh(&own.total[vertex]);
        if (degree_of(total) == 1 && load_fresh(&own.partner[vertex]) < 0) {
            const int neighbor = static_cast<int>(static_cast<uint32>(total));
            if (atomicCAS(&other.partner[neighbor], -1, vertex) == -1) {
                store_fresh(&own.partner[vertex], neighbor);
                only = neighbor;
            }
        }
    }
    only = __shfl_sync(FULL_WARP, only, 0);
    if (only >= 0) remove(other, own, only, forced, counts);
}

__device__ void propose(const Side& rows, const Side& columns, int row, uint64* best, int* proposal) {
    uint64 lowest = NO_MEMBER;
    for (offset_t k = rows.indptr[row] + lane(); k < rows.indptr[row + 1]; k += 32) {
        const int column = rows.indices[k];
        if (load_fresh(&columns.partner[column]) >= 0) continue;
        const uint64 rank = (load_fresh(&columns.total[column]) & ~(ONE - 1ull)) | static_cast<uint32>(column);
        lowest = rank < lowest ? rank : lowest;
    }
    for (int step = 16; step > 0; step >>= 1) {
        const uint64 other = __shfl_xor_sync(FULL_WARP, lowest, step);
        lowest = other < lowest ? other : lowest;
    }
    if (lane() != 0) return;
    proposal[row] = lowest == NO_MEMBER ? -1 : static_cast<int>(static_cast<uint32>(lowest));
    if (lowest == NO_MEMBER) return;
    const uint64 mine = (load_fresh(&rows.total[row]) & ~(ONE - 1ull)) | static_cast<uint32>(row);
    atomicMin(&best[proposal[row]], mine);
}

extern "C" __global__ void cardinality_karp_sipser_totals(const offset_t* indptr, const int* indices, int n,
                                                          uint64* total) {
    for (int i = global_thread() / 32; i < n; i += all_threads() / 32) {
        uint64 sum = 0;
        for (offset_t k = indptr[i] + lane(); k < indptr[i + 1]; k += 32) sum += ONE + static_cast<uint64>(indices[k]);
        for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(FULL_WARP, sum, step);
        if (lane() == 0) total[i] = sum;
    }
}

// forced: n_rows + n_columns places; live: two lists of n_rows; partners hold -1 and best NO_MEMBER everywhere before.
extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_karp_sipser(const offset_t* indptr, const int* indices, const offset_t* other_indptr,
                            const int* other_indices, int n_rows, int n_columns, uint64* row_total,
                            uint64* column_total, int* col_of_row, int* row_of_col, int* forced, int* live,
                            int* next_live, uint64* best, int* proposal, int share, Counts* counts) {
    const Side rows = {indptr, indices, row_total, col_of_row, 0, n_rows};
    const Side columns = {other_indptr, other_indices, column_total, row_of_col, n_rows, n_columns};
    const int thread = global_thread(), threads = all_threads();
    const int warp = thread / 32, warps = threads / 32;
    __shared__ int shared_forced, shared_live;

    for (int i = thread; i < n_rows; i += threads) {
        if (degree_of(row_total[i]) == 1) forced[next_place(&counts->forced)] = i;
        if (degree_of(row_total[i]) > 0) live[next_place(&counts->live[0])] = i;
    }
    for (int j = thread; j < n_columns; j += threads) {
        if (degree_of(column_total[j]) == 1) forced[next_place(&counts->forced)] = n_rows + j;
    }
    int done = 0;
    for (int round = 0;; ++round) {
        while (true) {
            grid_barrier(&counts->arrived);
            if (threadIdx.x == 0) {
                shared_forced = load_fresh(&counts->forced);
                shared_live = load_fresh(&counts->live[round & 1]);
            }
            __syncthreads();
            const int stop = shared_forced;
            if (done == stop) break;
            grid_barrier(&counts->arrived);  // all have read the length before it grows
            for (int i = done + warp; i < stop; i += warps) {
                const int vertex = forced[i];
                if (vertex < n_rows) {
                    match_forced(rows, columns, vertex, forced, counts);
                } else {
                    match_forced(columns, rows, vertex - n_rows, forced, counts);
                }
                __syncwarp();
            }
            done = stop;
        }
        const int n_live = shared_live;
        if (n_live == 0) return;
        if (thread == 0) counts->live[(round + 1) & 1] = 0;
        for (int i = warp; i < n_live; i += warps) {
            const int row = live[i];
            const bool is_free = load_fresh(&col_of_row[row]) < 0;
            if (is_free && ((row * 2654435761u >> 16) + round) % share == 0) {
                propose(rows, columns, row, best, proposal);
            } else if (lane() == 0) {
                proposal[row] = -2;
            }
        }
        grid_barrier(&counts->arrived);
        for (int i = warp; i < n_live; i += warps) {
            const int row = live[i];
            const int column = proposal[row];
            const bool is_free = load_fresh(&col_of_row[row]) < 0;
            const bool wins = column >= 0 && static_cast<uint32>(load_fresh(&best[column])) == static_cast<uint32>(row);
            __syncwarp();  // all lanes have read whether the row is free before one of them matches it
            if (!is_free || column == -1) continue;
            if (!wins) {
                if (lane() == 0) next_live[next_place(&counts->live[(round + 1) & 1])] = row;
                continue;
            }
            if (lane() == 0) {
                store_fresh(&col_of_row[row], column);
                store_fresh(&row_of_col[column], row);
            }
            __syncwarp();
            remove(rows, columns, row, forced, counts);
            remove(columns, rows, column, forced, counts);
        }
        int* swap = live;
        live = next_live;
        next_live = swap;
    }
}
