// Shortest augmenting paths from the rows that the auction left over, many at once, in one cooperative launch.
//
// Source: R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
// problems", Computing 38 (1987), augmentation; side by side by deterministic reservations (G. Blelloch, J.
// Fineman, P. Gibbons, J. Shun, "Internally deterministic parallel algorithms can be fast", PPoPP 2012), which is
// ours here.
//
// Needs matched edges of zero slack, unassigned rows at their bound and unassigned columns at their starting dual (what auction_bid leaves at
// eps = 0). Every block searches for one row at a time, by Dijkstra's method on reduced costs, in the same state of
// the matching. Then each search claims the columns whose dual or owner it would change, the older search first. A
// search that holds all its claims augments, the others start again in the next step. Two searches that augment
// together share no such column, and column duals only fall: what one lowers is no nearer to the other. So the
// outcome is that of one after the other, and it is the same on every run. Each step augments along the oldest search
// at least.
//
// A path ends in a column that is unassigned, or in a row that becomes unassigned at its bound; ties: row first, then smallest
// column. Distances of reached columns lie in a list per block, searched in full for the nearest (lists are short:
// a search stops where density does); `place` finds a column in it.
//
// Bytes: the edges of each scanned row twice, and the list once per scanned row. Memory: a block takes 4 bytes a
// column and 16 per entry of its list.
// Hazards: matching and duals are written by other blocks, only between the first and the second barrier of a step; `claim`
// is reset by its owners before the next step.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
// variant: -DDENSE
// variant: -DDENSE -DCOST=double
// variant: -DDENSE -DINTEGER -DCOST=int
// variant: -DDENSE -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int UNCLAIMED = 0x7fffffff;
constexpr int UNREACHED = 0;
constexpr int NO_PATH = -2;   // as a sink; sinks from -4 down are rows that become unassigned: -row - 4
constexpr int TOO_LONG = -3;
constexpr int MAX_WARPS = 32;

struct Matching {
    Graph graph;
    const dual_t* __restrict__ row_bound;
    dual_t* v;
    int* col_of_row;
    int* row_of_col;
};

// The columns that one block's search has reached.
struct Reached {
    int* place;     // (columns,) 1 + place in the list, or UNREACHED
    int* column;    // (size,) ~column once it is scanned
    int* from;      // (size,) row from which it was reached
    dual_t* dist;  // (size,)
    int size;
};

// The nearest of the block's (distance, column, place): smallest distance, then smallest column. All threads know it.
struct Nearest {
    dual_t dist;
    int column, place;
};

__device__ __forceinline__ Nearest nearer(Nearest a, Nearest b) {
    return comes_before(b.dist, b.column, a.dist, a.column) ? b : a;
}

__device__ Nearest nearest_of_block(Nearest mine) {
    __shared__ Nearest of_warp[MAX_WARPS];
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        mine = nearer(
            mine, Nearest{
                      __shfl_xor_sync(FULL_WARP, mine.dist, step), __shfl_xor_sync(FULL_WARP, mine.column, step),
                      __shfl_xor_sync(FULL_WARP, mine.place, step)
                  }
        );
    if (blockDim.x == 32) return mine;
    if (lane() == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = of_warp[0];
    for (int w = 1; w < blockDim.x / 32; w++) mine = nearer(mine, of_warp[w]);
    __syncthreads();
    return mine;
}

struct Path {
    int sink;        // column, -row - 4, NO_PATH or TOO_LONG
    dual_t length;
    int n_reached;
};

// Dijkstra's search from `start`, given up after `most_scans` rows or when the list is full; all threads of the
// block return the same path.
__device__ Path search(const Matching& m, int start, const Reached& reached, int most_scans, uint64* rows_scanned) {
    __shared__ int n_reached;
    if (threadIdx.x == 0) n_reached = 0;
    __syncthreads();
    dual_t reach = 0, shortest_unassigned = none();
    int row = start, leaving = NO_MEMBER;
    Nearest free_column{none(), NO_EDGE, NO_EDGE};
    for (int scans = 0;; scans++) {
        const int64 first = m.graph.first(row);
        const int degree = m.graph.degree(row);
        const dual_t bound = m.row_bound[row];
        Nearest cheapest{bound, NO_EDGE, 0};
        for (int e = threadIdx.x; e < degree; e += blockDim.x) {
            const dual_t value = m.graph.value(first, e, m.v);
            if (value < cheapest.dist) cheapest.dist = value;
        }
        const dual_t dual = nearest_of_block(cheapest).dist;
        if (dual >= none()) return Path{NO_PATH, 0, n_reached};
        if (bound < none() && reach + (bound - dual) < shortest_unassigned)
            shortest_unassigned = reach + (bound - dual), leaving = row;
        const dual_t limit = free_column.dist < shortest_unassigned ? free_column.dist : shortest_unassigned;
        Nearest found = free_column;
        for (int e = threadIdx.x; e < degree; e += blockDim.x) {
            const dual_t value = m.graph.value(first, e, m.v);
            if (value >= none()) continue;
            const dual_t through = reach + (value - dual);
            if (through > limit) continue;
            const int col = m.graph.column(first, e);
            int place = reached.place[col] - 1;
            if (place >= 0 && through >= reached.dist[place]) continue;
            if (place < 0) {
                place = atomicAdd(&n_reached, 1);
                if (place >= reached.size) continue;
                reached.place[col] = 1 + place;
                reached.column[place] = col;
            }
            reached.dist[place] = through;
            reached.from[place] = row;
            if (m.row_of_col[col] == NO_MEMBER) found = nearer(found, Nearest{through, col, place});
        }
        free_column = nearest_of_block(found);
        __syncthreads();
        if (n_reached > reached.size) return Path{TOO_LONG, 0, reached.size};
        Nearest next{none(), NO_EDGE, NO_EDGE};
        for (int k = threadIdx.x; k < n_reached; k += blockDim.x)
            if (reached.column[k] >= 0) next = nearer(next, Nearest{reached.dist[k], reached.column[k], k});
        next = nearest_of_block(next);
        if (threadIdx.x == 0) *rows_scanned += 1;
        const dual_t nearest = free_column.dist < shortest_unassigned ? free_column.dist : shortest_unassigned;
        if (next.dist >= nearest) {
            const int count = n_reached;
            __syncthreads();
            if (shortest_unassigned <= free_column.dist)
                return Path{leaving == NO_MEMBER ? NO_PATH : -leaving - 4, shortest_unassigned, count};
            return Path{free_column.column, free_column.dist, count};
        }
        if (scans == most_scans) {
            const int count = n_reached;
            __syncthreads();
            return Path{TOO_LONG, 0, count};
        }
        if (threadIdx.x == 0) reached.column[next.place] = ~next.column;
        row = m.row_of_col[next.column];
        reach = next.dist;
        __syncthreads();
    }
}

// Lowers the duals of the scanned columns and exchanges matched edges and other edges along the path.
__device__ void augment_path(const Matching& m, int start, const Path& path, const Reached& reached) {
    for (int k = threadIdx.x; k < path.n_reached; k += blockDim.x)
        if (reached.column[k] < 0) m.v[~reached.column[k]] += reached.dist[k] - path.length;
    if (threadIdx.x != 0) return;
    int col = path.sink;
    if (path.sink <= -4) {
        const int leaving = -path.sink - 4;
        col = m.col_of_row[leaving];
        m.col_of_row[leaving] = NO_MEMBER;
        if (leaving == start) return;
    }
    while (true) {
        const int row = reached.from[reached.place[col] - 1];
        const int before = m.col_of_row[row];
        m.row_of_col[col] = row;
        m.col_of_row[row] = col;
        if (row == start) return;
        col = before;
    }
}

// Keeps the rows whose searches did not augment at the front, in order, and fills up with the next rows. Block
// 0.
__device__ void refill(int* window, const int* done, int slots, const int* waiting, int n_waiting, int* head) {
    __shared__ int kept_of_warp[MAX_WARPS];
    __shared__ int total;
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int base = 0; base < slots; base += blockDim.x) {
        const int slot = base + threadIdx.x;
        const int row = slot < slots ? *(volatile int*)&window[slot] : NO_MEMBER;
        const bool keeps = row != NO_MEMBER && !*(volatile int*)&done[slot];
        const uint32 ballot = __ballot_sync(FULL_WARP, keeps);
        if (lane() == 0) kept_of_warp[warp] = __popc(ballot);
        __syncthreads();
        int at = total + __popc(ballot & lanes_below());
        for (int w = 0; w < warp; w++) at += kept_of_warp[w];
        if (keeps) window[at] = row;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int w = 0; w < warps; w++) total += kept_of_warp[w];
        __syncthreads();
    }
    const int from = slots + *head;
    for (int slot = total + threadIdx.x; slot < slots; slot += blockDim.x) {
        const int at = from + slot - total;
        int row = NO_MEMBER;
        if (at < n_waiting) row = waiting[at];
        window[slot] = row;
    }
    __syncthreads();
    if (threadIdx.x == 0) *head += slots - total;
}

// One slot per block. window (blocks,) = the first rows of `waiting` (ascending), *head = rows drawn after them. infeasible_row: 0,
// or on return UNCLAIMED less the smallest row found without a path. left: rows whose search was too long. counts: steps,
// searches, rows scanned. place, head, infeasible_row, n_left, counts, barrier: 0 at the start.
extern "C" __global__ void __launch_bounds__(1024) auction_path(
    int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden, int width,
    int block_rows, const dual_t* row_bound, dual_t* v, int* col_of_row, int* row_of_col, const int* waiting,
    int n_waiting, int* window, int* done, int* head, int* claim, int* place, int* column, int* from, dual_t* dist,
    int list_size, int* infeasible_row, int* left, int* n_left, int most_scans, uint64* counts, uint32* barrier
) {
    const Matching m{Graph{indptr, indices, cost, forbidden, width, block_rows}, row_bound, v, col_of_row, row_of_col};
    const int64 share = (int64)blockIdx.x * list_size;
    const Reached reached{place + (int64)blockIdx.x * n_cols, column + share, from + share, dist + share, list_size};
    __shared__ int lost;
    uint64 rows_scanned = 0, searches = 0;
    while (*(volatile int*)&window[0] != NO_MEMBER && *(volatile int*)infeasible_row == 0) {
        const int start = *(volatile int*)&window[blockIdx.x];
        const bool busy = start != NO_MEMBER;
        Path path{NO_PATH, 0, 0};
        if (threadIdx.x == 0) lost = 0;
        if (busy) {
            path = search(m, start, reached, most_scans, &rows_scanned);
            searches++;
            for (int k = threadIdx.x; k < path.n_reached && path.sink != TOO_LONG; k += blockDim.x)
                if (reached.column[k] < 0) atomicMin(&claim[~reached.column[k]], (int)blockIdx.x);
            if (threadIdx.x == 0 && path.sink >= 0) atomicMin(&claim[path.sink], (int)blockIdx.x);
        }
        grid_barrier(barrier);
        if (busy) {
            for (int k = threadIdx.x; k < path.n_reached && path.sink != TOO_LONG; k += blockDim.x)
                if (reached.column[k] < 0 && *(volatile int*)&claim[~reached.column[k]] != blockIdx.x) lost = 1;
            if (threadIdx.x == 0 && path.sink >= 0 && *(volatile int*)&claim[path.sink] != blockIdx.x) lost = 1;
            __syncthreads();
            const bool wins = lost == 0;
            if (wins && path.sink != NO_PATH && path.sink != TOO_LONG) augment_path(m, start, path, reached);
            if (threadIdx.x == 0) {
                done[blockIdx.x] = wins;
                if (path.sink == NO_PATH) atomicMax(infeasible_row, UNCLAIMED - start);
                if (path.sink == TOO_LONG) left[atomicAdd(n_left, 1)] = start;
            }
        }
        grid_barrier(barrier);
        if (busy) {
            for (int k = threadIdx.x; k < path.n_reached; k += blockDim.x) {
                const int col = reached.column[k];
                if (col < 0 && path.sink != TOO_LONG) claim[~col] = UNCLAIMED;
                reached.place[col < 0 ? ~col : col] = UNREACHED;
            }
            if (threadIdx.x == 0 && path.sink >= 0) claim[path.sink] = UNCLAIMED;
        }
        if (blockIdx.x == 0) {
            refill(window, done, gridDim.x, waiting, n_waiting, head);
            if (threadIdx.x == 0) counts[0]++;
        }
        grid_barrier(barrier);
    }
    if (threadIdx.x == 0) {
        atomicAdd(&counts[1], searches);
        atomicAdd(&counts[2], rows_scanned);
    }
}
