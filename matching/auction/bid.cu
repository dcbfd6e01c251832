// Jacobi auction on a graph: all unassigned rows bid at once, round after round, inside one cooperative launch.
//
// Source: D. P. Bertsekas, "Auction algorithms for network flow problems: a tutorial introduction", Computational
// Optimization and Applications 1 (1992), Jacobi form. With eps = 0 the bids are Jonker and Volgenant's augmenting
// row reduction (Computing 38, 1987): matched edges keep zero slack, unassigned rows sit at their bound and unassigned columns at their
// starting price, so what is left over can be finished by shortest augmenting paths (paths/path.cu), exactly.
//
// LANES neighbouring lanes serve one row. A round has two phases:
//   bid     every waiting row finds its best column and the price at which its second choice is as good, and enters the
//           column's key by atomicMax: the highest increment wins, then the smallest row, whatever the order of threads;
//   assign  winners take their column and put the row they displace into the next round's queue, losers queue themselves.
// A queue never grows. Rows that are better off unassigned retire for good: prices only turn against them. Rows whose
// bid would not move the price of a taken column go to `waiting`.
//
// Bytes of the first round: 12 to 16 per edge (read once) and 40 per row; prices are gathered from the L2 cache.
// Hazards: prices, owners and keys are written by other blocks, hence never read through __restrict__ pointers; the
// three queue sizes rotate (read, filled, cleared), so that no barrier is needed to clear one.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
// variant: -DDENSE -DLANES=32
// variant: -DDENSE -DLANES=32 -DINTEGER -DCOST=int
#include "problem/graph.cuh"

#ifndef LANES
#define LANES 8
#endif

struct Auction {
    Graph graph;
    const dual_t* __restrict__ row_bound;  // (rows,) unmatched cost, none() where a row must be matched
    dual_t* v;                             // (columns,)
    int* col_of_row;
    int* row_of_col;
    uint64* key;        // (columns,) best bid of the round
    int* bid_edge;      // (rows,) by place in the queue: edge bid for, or NO_EDGE
    dual_t* bid_price;
    int* waiting;
    int* n_waiting;
    dual_t eps;
};

// Adds `row` to a queue for each lane that `keeps` one, with one atomic per warp. The whole warp must come.
__device__ __forceinline__ void push(bool keeps, int row, int* queue, int* size) {
    const uint32 ballot = __ballot_sync(FULL_WARP, keeps);
    if (ballot == 0) return;
    int base = 0;
    if (lane() == 0) base = atomicAdd(size, __popc(ballot));
    base = __shfl_sync(FULL_WARP, base, 0);
    if (keeps) queue[base + __popc(ballot & lanes_below())] = row;
}

// The row at place `at` bids; every lane of the warp takes part, groups beyond the queue with row = NO_MEMBER.
__device__ __forceinline__ void bid(const Auction& a, int row, int at) {
    const int member = threadIdx.x % LANES;
    Choice choice = no_choice(member == 0, row == NO_MEMBER ? dual_t(0) : a.row_bound[row]);
    int64 first = 0;
    if (row != NO_MEMBER) {
        first = a.graph.first(row);
        const int degree = a.graph.degree(row);
        for (int e = member; e < degree; e += LANES) consider(choice, a.graph.value(first, e, a.v), e);
    }
    choice = agreed<LANES>(choice);
    bool waits = false;
    if (row != NO_MEMBER && member == 0) {
        int edge = choice.best_edge;
        if (edge == UNASSIGNED || choice.best >= none()) {
            a.bid_edge[at] = NO_EDGE;
            waits = choice.best >= none();
        } else {
            int col = a.graph.column(first, edge);
            bool taken = a.row_of_col[col] != NO_MEMBER;
            if (taken && choice.second <= choice.best && choice.second_edge != UNASSIGNED && choice.second_edge != NO_EDGE) {
                const int other = a.graph.column(first, choice.second_edge);
                if (a.row_of_col[other] == NO_MEMBER) col = other, edge = choice.second_edge, taken = false;
            }
            const dual_t now = a.v[col];
            dual_t price = choice.second < none() ? a.graph.cost_of(first, edge) - choice.second : now;
            price = (price < now ? price : now) - a.eps;
            waits = taken && price >= now;
            a.bid_edge[at] = waits ? NO_EDGE : edge;
            if (!waits) {
                a.bid_price[at] = price;
                atomicMax(&a.key[col], bid_key(now - price, row));
            }
        }
    }
    push(waits, row, a.waiting, a.n_waiting);
}

// The row at place `at` takes its column or not; one lane a row, the whole warp comes.
__device__ __forceinline__ void assign(const Auction& a, int row, int at, int* next, int* n_next) {
    int free_row = NO_MEMBER;
    if (row != NO_MEMBER && a.bid_edge[at] != NO_EDGE) {
        const int col = a.graph.column(a.graph.first(row), a.bid_edge[at]);
        free_row = row;
        if (bidder(*(volatile uint64*)&a.key[col]) == row) {
            free_row = a.row_of_col[col];
            if (free_row != NO_MEMBER) a.col_of_row[free_row] = NO_MEMBER;
            a.row_of_col[col] = row;
            a.col_of_row[row] = col;
            a.v[col] = a.bid_price[at];
            a.key[col] = 0;
        }
    }
    push(free_row != NO_MEMBER, free_row, next, n_next);
}

// Which rows bid in a round: in round 0 the caller's, or all; in the others those that the round before queued.
struct Queues {
    const int* first;  // (n_first,), or null: rows 0 ... n_first - 1
    int n_first, n_rows;
    int* later;        // two halves of n_rows
    int* sizes;        // three, which rotate; 0 at the start

    __device__ __forceinline__ int size(int round) const {
        return round == 0 ? n_first : *(volatile int*)&sizes[round % 3];
    }
    __device__ __forceinline__ int row(int round, int at) const {
        if (round > 0) return later[(round & 1) * (int64)n_rows + at];
        return first == nullptr ? at : first[at];
    }
};

// first_queue, n_first, later, sizes: as `Queues`. key, sizes, n_waiting, counts, barrier: 0 at the start. counts: bids, rounds.
// Rounds go on until `stop_at` rows or fewer are queued, `most_rounds` are over or `most_bids` are spent.
extern "C" __global__ void __launch_bounds__(512) auction_bid(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, const dual_t* row_bound, dual_t* v, int* col_of_row, int* row_of_col, uint64* key,
    int* bid_edge, dual_t* bid_price, const int* first_queue, int n_first, int* later, int* sizes, int* waiting,
    int* n_waiting, uint64* counts, uint32* barrier, dual_t eps, int stop_at, int most_rounds, uint64 most_bids
) {
    const Auction a{
        Graph{indptr, indices, cost, forbidden, width, block_rows},
        row_bound,
        v,
        col_of_row,
        row_of_col,
        key,
        bid_edge,
        bid_price,
        waiting,
        n_waiting,
        eps
    };
    const Queues queues{first_queue, n_first, n_rows, later, sizes};
    const int thread = dealt_thread(), threads = all_threads();
    uint64 bids = 0;  // every thread counts them for itself
    int round = 0;
    for (; round < most_rounds; round++) {
        const int size = queues.size(round);
        if (size <= stop_at || bids >= most_bids) break;
        bids += size;
        int* next = later + ((round + 1) & 1) * (int64)n_rows;
        if (thread == 0) sizes[(round + 2) % 3] = 0;
        const int padded = (size * (int64)LANES + 31) / 32 * 32 / LANES;  // whole warps
        for (int at = thread / LANES; at < padded; at += threads / LANES)
            bid(a, at < size ? queues.row(round, at) : NO_MEMBER, at);
        grid_barrier(barrier);
        for (int at = thread; at < (size + 31) / 32 * 32; at += threads)
            assign(a, at < size ? queues.row(round, at) : NO_MEMBER, at, next, &sizes[(round + 1) % 3]);
        grid_barrier(barrier);
    }
    if (blockIdx.x != 0) return;
    const int left = queues.size(round), base = *(volatile int*)n_waiting;
    for (int at = threadIdx.x; at < left; at += blockDim.x) waiting[base + at] = queues.row(round, at);
    __syncthreads();
    if (threadIdx.x == 0) {
        *n_waiting = base + left;
        counts[0] += bids;
        counts[1] += round;
    }
}
