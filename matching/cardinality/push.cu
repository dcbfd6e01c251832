// Our own push-relabel: rounds of exact relabelling, and between them steps in which every free row pushes at once.
//
// Beyond Deveci, Kaya, Ucar, Catalyurek (ICPP 2013). Theirs is one push a column and kernel launch, and the last writer
// wins. Here a group of LANES threads holds a free row and bids for its neighbouring column of lowest label; a column
// goes to the highest bid (then to the highest row), and the group whose bid won goes on with the row that it drove
// out, the others bid again. Labels are of columns only: 0 if free, else at most 1 + the lowest label among the other
// neighbours of its row (Bertsekas' auction for unit costs: a bid is 1 + the second lowest label). Labels only grow
// between relabellings, so each stays a lower bound of the pushes to a free column; a row whose lowest label is
// INFINITE can never be matched, and is dropped. All bids of a step rest on the state before it, so the outcome does
// not depend on which thread is first: the same matching on every run and every device.
// Exact labels come from a breadth-first search from the free columns, queues and all levels in the same kernel; it
// stops as soon as every free row is reached, and columns not visited then count as one level above the last.
//
// Variables: state[j] = label << 32 | row (row 0xffffffff = free); bids: two arrays like state, one for the odd steps:
// a step writes one while the other, complete, says which row won the step before. A bid is always higher than the state it
// is made on, so the larger of state and last bid is what counts, and the winner brings the state up to date while
// others read: one grid barrier a step. seen[i] = (column of row i or -1, label it was reached at or UNSEEN), made again
// for each relabelling; queue: edges of the columns to scan; walkers: those of a group beyond its first, which stays in
// registers; free_rows, next_free. A round that relabelled over k levels does at most steps_scale * k + steps_base
// steps; the steps of so few rows that one block can hold them need no grid barrier.
// Bytes: per bid and neighbour 4 + 16; per relabelling and edge 4 + 4 + 4. All at random: latency counts, not
// bandwidth. Hazards: none decides anything.
// variant: -DINDEX64
// variant: -DLANES=32
#include "device/common.cuh"

constexpr int UNSEEN = 0x3fffffff;
constexpr int INFINITE = UNSEEN - 1;
constexpr uint32 FREE = 0xffffffffu;
#ifndef LANES  // 32 where rows are long
#define LANES 8
#endif
#ifndef GATHER  // smaller in tests
#define GATHER 1024
#endif
constexpr int MOST_LEVELS = 1 << 14;  // of all relabellings, whose sizes are written down

__device__ __forceinline__ uint64 packed(int label, uint32 row) { return static_cast<uint64>(label) << 32 | row; }
__device__ __forceinline__ int label_of(uint64 word) { return static_cast<int>(word >> 32); }
__device__ __forceinline__ uint32 row_of(uint64 word) { return static_cast<uint32>(word); }
__device__ __forceinline__ int* label_in(uint64* word) { return reinterpret_cast<int*>(word) + 1; }
__device__ __forceinline__ void store_fresh(uint64* address, uint64 value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

struct Pushes {
    const offset_t* indptr;
    const int* indices;
    uint64* state;
    const uint64* last_bids;
    uint64* bids;
    int ceiling;  // label of the columns that the search did not visit
};

struct Walker {
    int row, column, label, holder;  // column = -1: no bid under way; holder: the row that column had
};

// The edges of a row, and the first that this lane looks at.
struct Range {
    offset_t begin, stop;
    int first;
};

__device__ __forceinline__ Range range_of(const Pushes& p, int row, int mine) {
    if (row < 0) return {0, 0, -1};
    const offset_t begin = p.indptr[row], stop = p.indptr[row + 1];
    return {begin, stop, begin + mine < stop ? p.indices[begin + mine] : -1};
}

// The state of a column before this step.
__device__ __forceinline__ uint64 before(const Pushes& p, int column) {
    uint64 word = load_fresh(&p.state[column]);
    const uint64 bid = load_fresh(&p.last_bids[column]);
    if (label_of(word) == UNSEEN) word = packed(p.ceiling, row_of(word));
    return bid > word ? bid : word;
}

// Takes what the last bid won: the column changes hands, and the walker goes on with the row driven out.
__device__ __forceinline__ bool settle(const Pushes& p, Walker& w, int mine) {
    if (w.column < 0) return false;
    const uint64 bid = packed(w.label, w.row);
    if (load_fresh(&p.last_bids[w.column]) != bid) return false;
    if (mine == 0) store_fresh(&p.state[w.column], bid);
    w.row = w.holder;
    return true;
}

// The lanes that hold a walker together.
__device__ __forceinline__ uint32 group_of_lanes() {
    return LANES == 32 ? FULL_WARP : ((1u << LANES) - 1u) << (lane() & ~(LANES - 1));
}

// Bids for the neighbour of lowest label; the walker ends (row = -1) if there is none.
__device__ void bid(const Pushes& p, Walker& w, const Range& edges) {
    const uint32 group = group_of_lanes();
    const int mine = threadIdx.x & (LANES - 1);
    int lowest = INFINITE, second = INFINITE, column = -1, holder = -1, here = edges.first;
    for (offset_t k = edges.begin + mine; k < edges.stop; k += LANES) {
        const uint64 word = before(p, here);
        const int label = label_of(word);
        if (label < lowest) {
            second = lowest, lowest = label, column = here, holder = static_cast<int>(row_of(word));
        } else {
            second = min(second, label);
        }
        if (k + LANES < edges.stop) here = p.indices[k + LANES];
    }
    int winner = mine;
    for (int s = LANES / 2; s > 0; s >>= 1) {
        const int other_lowest = __shfl_xor_sync(group, lowest, s);
        const int other_second = __shfl_xor_sync(group, second, s);
        const int other_winner = __shfl_xor_sync(group, winner, s);
        second = min(max(lowest, other_lowest), min(second, other_second));
        if (other_lowest < lowest || (other_lowest == lowest && other_winner < winner)) winner = other_winner;
        lowest = min(lowest, other_lowest);
    }
    if (lowest >= INFINITE) {
        w.row = w.column = -1;
        return;
    }
    w.label = min(second, INFINITE - 1) + 1;
    if (mine == winner) atomicMax(&p.bids[column], packed(w.label, w.row));
    w.column = __shfl_sync(group, column, winner, LANES);
    w.holder = __shfl_sync(group, holder, winner, LANES);
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
    int queue[3];    // ring over level % 3
    int alive[3];    // ring over step % 3
    int reached[3];  // as queue: free rows that the level before has reached
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
    int* n_reached = &counts->reached[(level + 1) % 3];
    const int thread = global_thread(), threads = all_threads();
    int lanes = 32;
    while (lanes > 1 && static_cast<int64>(n) * lanes > threads) lanes >>= 1;
    const int mine = thread & (lanes - 1);
    for (int i = thread / lanes; i < n; i += threads / lanes) {
        const Edges from = front[i];
        for (int k = mine; k < from.degree; k += lanes) {
            const int row = other_indices[from.begin + k];
            if (load_fresh(&seen[row].y) != UNSEEN) continue;
            const int column = seen[row].x;
            Edges edges = {0, 0};
            if (column >= 0) edges = edges_of(other_indptr, column);
            if (atomicCAS(&seen[row].y, UNSEEN, level) != UNSEEN) continue;
            if (column >= 0) {
                *label_in(&state[column]) = level + 1;
                gathered.add(edges, next, n_next);
            } else {
                next_place(n_reached);
            }
        }
    }
    gathered.flush(next, n_next);
}

__device__ void add_to(int* total, int value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(FULL_WARP, value, step);
    if (lane() == 0 && value > 0) atomicAdd(total, value);
}

// Relabels and pushes in turn until no free row is left that could be matched.
// statistics: eight numbers a round (free rows, reached, levels, columns visited, steps, bids, nanoseconds relabelling,
// nanoseconds pushing). sizes: columns of each level, of one relabelling after another, up to MOST_LEVELS.
// result: (rounds, rows left).
extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_push_solve(const offset_t* indptr, const int* indices, const offset_t* other_indptr,
                           const int* other_indices, int n_columns, uint64* state, uint64* even_bids, uint64* odd_bids,
                           int2* seen, Edges* queue, Walker* walkers, int* free_rows, int* next_free, int n_free,
                           float steps_scale, int steps_base, int max_rounds, Counts* counts, int* statistics,
                           int* sizes, int* result) {
    const int thread = global_thread(), threads = all_threads();
    __shared__ int shared_n, shared_reached;
    __shared__ Gathered<Edges, GATHER> gathered;
    if (threadIdx.x == 0) gathered.n = 0;
    __syncthreads();
    int round = 0, levels_before = 0;
    while (n_free > 0 && round < max_rounds) {
        const int64 start = nanoseconds();
        for (int j = thread; j < n_columns; j += threads) {
            const uint32 row = row_of(state[j]);
            even_bids[j] = odd_bids[j] = 0;
            if (row == FREE) {
                state[j] = packed(0, FREE);
                gathered.add(edges_of(other_indptr, j), queue, &counts->queue[0]);
            } else {
                state[j] = packed(UNSEEN, row);
                seen[row] = make_int2(j, UNSEEN);
            }
        }
        gathered.flush(queue, &counts->queue[0]);
        for (int i = thread; i < n_free; i += threads) seen[free_rows[i]] = make_int2(-1, UNSEEN);
        if (thread == 0) {
            counts->next_free = 0;
            counts->alive[0] = counts->alive[1] = counts->alive[2] = 0;
        }

        int level = 0, visited = 0, reached = 0;
        Edges* front = queue;
        while (true) {
            grid_barrier(&counts->arrived);
            if (threadIdx.x == 0) {
                shared_n = load_fresh(&counts->queue[level % 3]);
                shared_reached = load_fresh(&counts->reached[level % 3]);
            }
            __syncthreads();
            const int n = shared_n;
            reached += shared_reached;
            if (n == 0 || reached == n_free) break;
            if (thread == 0) {
                counts->queue[(level + 2) % 3] = counts->reached[(level + 2) % 3] = 0;
                if (levels_before + level < MOST_LEVELS) sizes[levels_before + level] = n;
            }
            relabel_level(other_indptr, other_indices, state, seen, front, n, level, counts, front + n, gathered);
            visited += n;
            front += n;
            ++level;
        }
        const int64 relabelled = nanoseconds();
        const int most_steps = static_cast<int>(steps_scale * level) + steps_base;
        int steps = 0, bids = 0;
        Walker kept = {-1, -1, 0, -1};  // the first walker of each group, with the edges that it needs next
        Range own = {0, 0, -1}, next = {0, 0, -1};
        const bool alone = n_free * LANES <= static_cast<int>(blockDim.x);  // the first block needs no other
        for (; steps <= most_steps && !(alone && blockIdx.x > 0); ++steps) {
            const Pushes p = {indptr,
                              indices,
                              state,
                              steps % 2 ? even_bids : odd_bids,
                              steps % 2 ? odd_bids : even_bids,
                              reached == n_free ? level + 1 : INFINITE};
            const int mine = threadIdx.x % LANES;
            bool is_alive = false;
            for (int i = thread / LANES; i < n_free; i += threads / LANES) {
                const bool is_first = i == thread / LANES;
                Walker w = kept;
                if (steps == 0) {
                    const int row = free_rows[i];  // not reached by a full search: never to be matched
                    w = {seen[row].y != UNSEEN ? row : -1, -1, 0, -1};
                    if (is_first) own = range_of(p, w.row, mine);
                } else if (!is_first) {
                    w = walkers[i];
                    __syncwarp(group_of_lanes());  // all lanes have read it before one writes
                }
                if (w.row >= 0) {
                    const bool has_won = settle(p, w, mine);
                    if (has_won && is_first) own = next;
                    w.column = -1;
                    if (w.row >= 0 && steps < most_steps) {
                        bid(p, w, is_first ? own : range_of(p, w.row, mine));
                        if (is_first && w.row >= 0) next = range_of(p, w.holder, mine);
                        bids += w.row >= 0 && mine == 0;
                    }
                }
                if (is_first) {
                    kept = w;
                } else if (mine == 0) {
                    walkers[i] = w;
                }
                if (w.row >= 0 && steps == most_steps && mine == 0) next_free[next_place(&counts->next_free)] = w.row;
                is_alive |= w.row >= 0;
            }
            is_alive = __syncthreads_or(is_alive);
            if (alone) {
                if (is_alive) continue;
                break;
            }
            if (is_alive && threadIdx.x == 0) store_fresh(&counts->alive[steps % 3], 1);
            grid_barrier(&counts->arrived);
            if (threadIdx.x == 0) shared_n = load_fresh(&counts->alive[steps % 3]);
            __syncthreads();
            if (shared_n == 0) break;
            if (thread == 0) counts->alive[(steps + 2) % 3] = 0;
        }
        __syncwarp();
        add_to(&counts->pushes, bids);
        grid_barrier(&counts->arrived);
        if (threadIdx.x == 0) shared_n = load_fresh(&counts->next_free);
        __syncthreads();
        if (thread == 0) {
            int* row = statistics + 8 * round;
            row[0] = n_free, row[1] = reached, row[2] = level, row[3] = visited, row[4] = steps;
            row[5] = counts->pushes, row[6] = static_cast<int>(relabelled - start);
            row[7] = static_cast<int>(nanoseconds() - relabelled);
            for (int k = 0; k < 3; ++k) counts->queue[k] = counts->reached[k] = 0;
            counts->pushes = 0;
        }
        n_free = shared_n;
        int* swap = free_rows;
        free_rows = next_free;
        next_free = swap;
        ++round;
        levels_before = min(levels_before + level, MOST_LEVELS);
        grid_barrier(&counts->arrived);
    }
    if (thread == 0) {
        result[0] = round;
        result[1] = n_free;
    }
}
