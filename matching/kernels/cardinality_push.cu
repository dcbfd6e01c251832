// Our own push-relabel: free rows walk on their own, without locks and without rounds, between exact relabels.
//
// Beyond Deveci, Kaya, Ucar, Catalyurek (ICPP 2013). Theirs is one push a column and kernel launch. Here a group of
// LANES threads takes a free row, gives it the neighbouring column of lowest label, and goes on with the row it drove
// out until that ends at a free column or its allowance is spent. Column and label share one 64-bit word, so a push is
// one compare-and-swap and no inconsistency ever arises. Labels are of columns only: d = 0 if free, else at most
// 1 + the lowest label among the other neighbours of its row (Bertsekas' auction for unit costs: a push sets it to
// 1 + the second lowest). Each swap keeps that bound whatever others do meanwhile, because labels read earlier were
// no higher; so a row whose lowest label is INFINITE can never be matched, and is dropped.
// Exact labels come from a breadth-first search from the free columns, queues and all levels in the same kernel; it
// stops as soon as every free row is reached, and columns not visited then count as one level above the last.
//
// Variables: state[j] = label << 32 | row (row 0xffffffff = free); seen[i] = (column of row i or -1, label it was
// reached at or INFINITE), made anew for each relabelling; queue: edges of the columns to scan; free_rows, next_free;
// allowance of a row reached at level k: allowance_scale * k + allowance_base pushes.
// Bytes: per push and neighbour 4 + 8; per relabelling and edge 4 + 4 + 4. All at random: latency counts, not
// bandwidth. Hazards: races decide which maximum matching comes out, never its size.
// variant: -DINDEX64
#include "grid.cuh"

constexpr int INFINITE = 0x3fffffff;
constexpr uint32 FREE = 0xffffffffu;
constexpr int GATHER = 1024;

__device__ __forceinline__ uint64 packed(int label, uint32 row) { return static_cast<uint64>(label) << 32 | row; }
__device__ __forceinline__ int label_of(uint64 word) { return static_cast<int>(word >> 32); }
__device__ __forceinline__ uint32 row_of(uint64 word) { return static_cast<uint32>(word); }
__device__ __forceinline__ int* label_in(uint64* word) { return reinterpret_cast<int*>(word) + 1; }

struct Walk {
    const offset_t* indptr;
    const int* indices;
    uint64* state;
    int ceiling;  // labels above count as this
};

// Walks from `row`. Returns -1 when the walk ended (a column gained, or none to be had), else the row it stands on.
// Latency is all: each lane reads where the edges of its best column's row lie while the group still compares, and the
// winner's first edges are read while the swap is under way.
template <int LANES>
__device__ int walk(const Walk& w, int row, int allowance, int* pushes) {
    const uint32 group = LANES == 32 ? FULL_WARP : ((1u << LANES) - 1u) << (lane() & ~(LANES - 1));
    const int mine = threadIdx.x & (LANES - 1);
    offset_t begin = w.indptr[row], stop = w.indptr[row + 1];
    int ahead = begin + mine < stop ? w.indices[begin + mine] : -1;
    while (true) {
        int lowest = INFINITE, second = INFINITE, column = -1;
        uint64 word = packed(0, FREE);
        int j = ahead;
        for (offset_t k = begin + mine; k < stop; k += LANES) {
            const int here = j;
            const uint64 read = load_fresh(&w.state[here]);
            if (k + LANES < stop) j = w.indices[k + LANES];
            const int label = min(label_of(read), w.ceiling);
            if (label < lowest) {
                second = lowest, lowest = label, column = here, word = read;
            } else {
                second = min(second, label);
            }
        }
        const uint32 holder = row_of(word);
        offset_t next_begin = 0, next_stop = 0;
        if (holder != FREE) next_begin = w.indptr[holder], next_stop = w.indptr[holder + 1];

        int winner = mine;
        for (int step = LANES / 2; step > 0; step >>= 1) {
            const int other_lowest = __shfl_xor_sync(group, lowest, step);
            const int other_second = __shfl_xor_sync(group, second, step);
            const int other_winner = __shfl_xor_sync(group, winner, step);
            second = min(max(lowest, other_lowest), min(second, other_second));
            if (other_lowest < lowest || (other_lowest == lowest && other_winner < winner)) winner = other_winner;
            lowest = min(lowest, other_lowest);
        }
        if (lowest >= INFINITE) return -1;
        if (allowance-- <= 0) return row;
        uint64 seen = 0;
        if (mine == winner) {
            seen = atomicCAS(&w.state[column], word, packed(min(second, INFINITE - 1) + 1, static_cast<uint32>(row)));
        }
        next_begin = __shfl_sync(group, next_begin, winner, LANES);
        next_stop = __shfl_sync(group, next_stop, winner, LANES);
        ahead = next_begin + mine < next_stop ? w.indices[next_begin + mine] : -1;
        const int swapped = __shfl_sync(group, static_cast<int>(mine == winner && seen == word), winner, LANES);
        if (!swapped) {  // the same row tries again
            ahead = begin + mine < stop ? w.indices[begin + mine] : -1;
            continue;
        }
        if (mine == winner) ++*pushes;
        const int driven_out = __shfl_sync(group, static_cast<int>(holder), winner, LANES);
        if (driven_out < 0) return -1;
        row = driven_out, begin = next_begin, stop = next_stop;
    }
}

__device__ void add_to(int* total, int value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(FULL_WARP, value, step);
    if (lane() == 0 && value > 0) atomicAdd(total, value);
}

// Walks from every free row with labels as they stand. next_free, n_next: the rows whose allowance was spent.
template <int LANES>
__device__ void walk_all(const Walk& w, const int* free_rows, int n_free, int allowance, int* next_free, int* n_next,
                         int* n_pushes) {
    int pushes = 0;
    for (int i = global_thread() / LANES; i < n_free; i += all_threads() / LANES) {
        const int left = walk<LANES>(w, free_rows[i], allowance, &pushes);
        if (left >= 0 && threadIdx.x % LANES == 0) next_free[next_place(n_next)] = left;
    }
    __syncwarp();
    add_to(n_pushes, pushes);
}

extern "C" __global__ void cardinality_push_walk_8(const offset_t* indptr, const int* indices, uint64* state,
                                                   const int* free_rows, int n_free, int allowance, int* next_free,
                                                   int* n_next, int* n_pushes) {
    const Walk w = {indptr, indices, state, INFINITE};
    walk_all<8>(w, free_rows, n_free, allowance, next_free, n_next, n_pushes);
}

extern "C" __global__ void cardinality_push_walk_32(const offset_t* indptr, const int* indices, uint64* state,
                                                    const int* free_rows, int n_free, int allowance, int* next_free,
                                                    int* n_next, int* n_pushes) {
    const Walk w = {indptr, indices, state, INFINITE};
    walk_all<32>(w, free_rows, n_free, allowance, next_free, n_next, n_pushes);
}

extern "C" __global__ void cardinality_push_load(int n_columns, const int* row_of_col, uint64* state) {
    for (int j = global_thread(); j < n_columns; j += all_threads()) {
        const int row = row_of_col[j];
        state[j] = packed(row >= 0, static_cast<uint32>(row));
    }
}

// col_of_row holds -1 everywhere before.
extern "C" __global__ void cardinality_push_store(int n_columns, const uint64* state, int* row_of_col,
                                                  int* col_of_row) {
    for (int j = global_thread(); j < n_columns; j += all_threads()) {
        const int row = static_cast<int>(row_of(state[j]));
        row_of_col[j] = row;
        if (row >= 0) col_of_row[row] = j;
    }
}

struct Counts {
    int queue[3];  // ring over level % 3
    int reached;
    int next_free;
    int pushes;
    uint32 arrived;
};

struct Edges {
    offset_t begin;
    int degree;
};

__device__ __forceinline__ Edges edges_of(const offset_t* indptr, int vertex) {
    const offset_t begin = indptr[vertex];
    return {begin, static_cast<int>(indptr[vertex + 1] - begin)};
}

// One level of the exact relabelling: columns of label `level` label the columns matched to their neighbours.
__device__ void relabel_level(const offset_t* other_indptr, const int* other_indices, uint64* state, int2* seen,
                              const Edges* front, int n, int level, Counts* counts, Edges* next,
                              Gathered<Edges, GATHER>& gathered) {
    int* n_next = &counts->queue[(level + 1) % 3];
    const int thread = global_thread(), threads = all_threads();
    int lanes = 32;
    while (lanes > 1 && static_cast<int64>(n) * lanes > threads) lanes >>= 1;
    const int mine = thread & (lanes - 1);
    for (int i = thread / lanes; i < n; i += threads / lanes) {
        const Edges from = front[i];
        for (int k = mine; k < from.degree; k += lanes) {
            const int row = other_indices[from.begin + k];
            if (load_fresh(&seen[row].y) != INFINITE) continue;
            const int column = seen[row].x;
            Edges edges = {0, 0};
            if (column >= 0) edges = edges_of(other_indptr, column);
            if (atomicCAS(&seen[row].y, INFINITE, level) != INFINITE) continue;
            if (column >= 0) {
                *label_in(&state[column]) = level + 1;
                gathered.add(edges, next, n_next);
            } else {
                next_place(&counts->reached);
            }
        }
    }
    gathered.flush(next, n_next);
}

// Relabels and walks in turn until no free row is left that could be matched.
// statistics: seven numbers a round (free rows, reached, levels, columns visited, pushes, nanoseconds relabelling,
// nanoseconds walking). result: (rounds, rows left).
template <int LANES>
__device__ void solve(const offset_t* indptr, const int* indices, const offset_t* other_indptr,
                      const int* other_indices, int n_columns, uint64* state, int2* seen, Edges* queue,
                      int* free_rows, int* next_free, int n_free, float allowance_scale, int allowance_base,
                      int max_rounds, Counts* counts, int* statistics, int* result) {
    const int thread = global_thread(), threads = all_threads();
    __shared__ int shared_n, shared_reached;
    __shared__ Gathered<Edges, GATHER> gathered;
    if (threadIdx.x == 0) gathered.n = 0;
    __syncthreads();
    int round = 0;
    while (n_free > 0 && round < max_rounds) {
        const int64 start = nanoseconds();
        for (int j = thread; j < n_columns; j += threads) {
            const uint32 row = row_of(state[j]);
            if (row == FREE) {
                state[j] = packed(0, FREE);
                gathered.add(edges_of(other_indptr, j), queue, &counts->queue[0]);
            } else {
                state[j] = packed(INFINITE, row);
                seen[row] = make_int2(j, INFINITE);
            }
        }
        gathered.flush(queue, &counts->queue[0]);
        for (int i = thread; i < n_free; i += threads) seen[free_rows[i]] = make_int2(-1, INFINITE);
        if (thread == 0) counts->next_free = 0;

        int level = 0, visited = 0, reached = 0;
        Edges* front = queue;
        while (true) {
            grid_barrier(&counts->arrived);
            if (threadIdx.x == 0) {
                shared_n = load_fresh(&counts->queue[level % 3]);
                shared_reached = load_fresh(&counts->reached);
            }
            __syncthreads();
            const int n = shared_n;
            reached = shared_reached;
            if (n == 0 || reached == n_free) break;
            if (thread == 0) counts->queue[(level + 2) % 3] = 0;
            relabel_level(other_indptr, other_indices, state, seen, front, n, level, counts, front + n, gathered);
            visited += n;
            front += n;
            ++level;
        }
        const int64 relabelled = nanoseconds();
        const Walk w = {indptr, indices, state, reached == n_free ? level + 1 : INFINITE};
        int pushes = 0;
        for (int i = thread / LANES; i < n_free; i += threads / LANES) {
            const int row = free_rows[i];
            const int reached_at = seen[row].y;
            if (reached_at == INFINITE) continue;  // not reached by a full search: never to be matched
            const int allowance = static_cast<int>(allowance_scale * reached_at) + allowance_base;
            const int left = walk<LANES>(w, row, allowance, &pushes);
            if (left >= 0 && threadIdx.x % LANES == 0) next_free[next_place(&counts->next_free)] = left;
        }
        __syncwarp();
        add_to(&counts->pushes, pushes);
        grid_barrier(&counts->arrived);
        if (threadIdx.x == 0) shared_n = load_fresh(&counts->next_free);
        __syncthreads();
        if (thread == 0) {
            int* row = statistics + 7 * round;
            row[0] = n_free, row[1] = reached, row[2] = level, row[3] = visited, row[4] = counts->pushes;
            row[5] = static_cast<int>(relabelled - start), row[6] = static_cast<int>(nanoseconds() - relabelled);
            for (int k = 0; k < 3; ++k) counts->queue[k] = 0;
            counts->reached = counts->pushes = 0;
        }
        n_free = shared_n;
        int* swap = free_rows;
        free_rows = next_free;
        next_free = swap;
        ++round;
        grid_barrier(&counts->arrived);
    }
    if (thread == 0) {
        result[0] = round;
        result[1] = n_free;
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_push_solve_8(const offset_t* indptr, const int* indices, const offset_t* other_indptr,
                             const int* other_indices, int n_columns, uint64* state, int2* seen, Edges* queue,
                             int* free_rows, int* next_free, int n_free, float allowance_scale, int allowance_base,
                             int max_rounds, Counts* counts, int* statistics, int* result) {
    solve<8>(indptr, indices, other_indptr, other_indices, n_columns, state, seen, queue, free_rows, next_free,
             n_free, allowance_scale, allowance_base, max_rounds, counts, statistics, result);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_push_solve_32(const offset_t* indptr, const int* indices, const offset_t* other_indptr,
                              const int* other_indices, int n_columns, uint64* state, int2* seen, Edges* queue,
                              int* free_rows, int* next_free, int n_free, float allowance_scale, int allowance_base,
                              int max_rounds, Counts* counts, int* statistics, int* result) {
    solve<32>(indptr, indices, other_indptr, other_indices, n_columns, state, seen, queue, free_rows, next_free,
              n_free, allowance_scale, allowance_base, max_rounds, counts, statistics, result);
}
