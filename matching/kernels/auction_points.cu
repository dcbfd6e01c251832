// Matrix-free costs: nearest neighbours of two point sets, and the check of all pairs against prices, through one
// tree.
//
// Points are sorted along a Morton curve; 8 neighbours in that order make a leaf, 8 nodes the node above. A node
// holds the box of its points and their largest price. So a row meets all columns in O(log m) steps: a subtree is
// skipped when the distance to its box less its largest price is no better than the row's dual ("solve sparse,
// certify dense"). Box distances are rounded down; pair costs are computed as on the CPU, without contraction, so
// that one cost has one value.
//
// A batch is one tree over all blocks: each block's points fill slots of their own, padded (order -1) so that no node
// below its roots holds points of two blocks, and a search starts in the few roots of its block.
//
//   auction_morton     Morton codes of points, 21 bits an axis
//   auction_tree       the nodes of one level, a thread a node
//   auction_nearest    the NEAREST nearest points of every query, a thread a query
//   auction_point_costs  costs of given pairs
//   auction_price      up to FAN pairs of a row with c - v < r, FAN lanes a row
//
// Bytes: about 60 per node visited, some hundred nodes a query. No two threads write the same place.
// variant: -DSQUARED
#include "grid.cuh"

constexpr int FAN = 8;
constexpr int NEAREST = 16;
constexpr int LEVEL_SHIFT = 27;  // a node on the stack: level << 27 | index
constexpr int STACK = 96;
constexpr double ROUND_DOWN = 1.0 - 16 * 2.220446049250313e-16;

struct Tree {
    const double* __restrict__ points;  // (slots, 3), sorted
    const int* __restrict__ order;      // (slots,) index of each sorted point in the caller's order, -1 = no point
    const double* __restrict__ boxes;   // (nodes, 6): lower corner, upper corner; leaves first, then level after level
    const double* __restrict__ prices;  // (nodes,)
    int slots;
};

// Where the points of one block are.
struct Block {
    int level, first_root, end_root, first_slot, end_slot;
};

__device__ __forceinline__ double squared_distance(const double* a, const double* b) {
    const double z = __dsub_rn(a[0], b[0]), y = __dsub_rn(a[1], b[1]), x = __dsub_rn(a[2], b[2]);
    return __dadd_rn(__dadd_rn(__dmul_rn(z, z), __dmul_rn(y, y)), __dmul_rn(x, x));
}

__device__ __forceinline__ double cost_of(double squared) {
#ifdef SQUARED
    return squared;
#else
    return __dsqrt_rn(squared);
#endif
}

// At most the cost between a point and anything in a box.
__device__ __forceinline__ double squared_to_box(const double* a, const double* box) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double gap = fmax(fmax(box[k] - a[k], a[k] - box[3 + k]), 0.0);
        sum += gap * gap;
    }
    return sum * ROUND_DOWN;
}

// Visits every slot j of a block for which no node above was skipped. skip(node), meet(slot).
template <class Skip, class Meet>
__device__ __forceinline__ void traverse(const Tree& tree, const Block& block, const int* first, Skip skip, Meet meet) {
    int stack[STACK];
    int size = 0;
    for (int root = block.first_root; root < block.end_root; root++) stack[size++] = block.level << LEVEL_SHIFT | root;
    while (size > 0) {
        const int top = stack[--size], level = top >> LEVEL_SHIFT, index = top & ((1 << LEVEL_SHIFT) - 1);
        if (skip(first[level] + index)) continue;
        const int begin = index * FAN, below = level == 0 ? tree.slots : first[level] - first[level - 1];
        const int end = begin + FAN < below ? begin + FAN : below;
        if (level == 0)
            for (int j = begin; j < end; j++) meet(j);
        else
            for (int k = begin; k < end; k++) stack[size++] = (level - 1) << LEVEL_SHIFT | k;
    }
}

extern "C" __global__ void auction_morton(
    int n, const double* points, const double* corner, double cells_per_unit, uint64* codes
) {
    const int i = global_thread();
    if (i >= n) return;
    uint64 code = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double cell = (points[3 * i + axis] - corner[axis]) * cells_per_unit;
        const uint64 c = (uint64)fmin(fmax(cell, 0.0), 2097151.0);
        for (int bit = 0; bit < 21; bit++) code |= ((c >> bit) & 1ull) << (3 * bit + 2 - axis);
    }
    codes[i] = code;
}

// Nodes of `level`, which lie from `here` on; those below from `below` on, or slots when level is 0. A node without a
// point has an empty box.
extern "C" __global__ void auction_tree(
    int level, int n_nodes, int n_below, int here, int below, const double* points, const int* order, const double* v,
    double* boxes, double* prices
) {
    const int node = global_thread();
    if (node >= n_nodes) return;
    double box[6] = {1e308, 1e308, 1e308, -1e308, -1e308, -1e308}, price = -1e308;
    const int end = (node + 1) * FAN < n_below ? (node + 1) * FAN : n_below;
    for (int child = node * FAN; child < end; child++) {
        if (level == 0 && order[child] < 0) continue;
        const double* low = level == 0 ? points + 3 * (int64)child : boxes + 6 * (int64)(below + child);
        const double* high = level == 0 ? low : low + 3;
        for (int k = 0; k < 3; k++) box[k] = fmin(box[k], low[k]), box[3 + k] = fmax(box[3 + k], high[k]);
        price = fmax(price, level == 0 ? v[order[child]] : prices[below + child]);
    }
    for (int k = 0; k < 6; k++) boxes[6 * (int64)(here + node) + k] = box[k];
    prices[here + node] = price;
}

// queries: (n, 3) sorted; query_order, query_block (n,) their own indices, -1 = none, and blocks; near: (n,) slot where
// each falls among the sorted points. pairs: (n, NEAREST) row * columns + column, -1 beyond the number of points;
// queries are columns when turned.
extern "C" __global__ void __launch_bounds__(128) auction_nearest(
    int n, int slots, const int* first, const Block* blocks, const double* points, const int* order,
    const double* boxes, const double* prices, const double* queries, const int* query_order, const int* query_block,
    const int* near, int turned, int64 n_cols, int64* pairs
) {
    const Tree tree{points, order, boxes, prices, slots};
    const int i = global_thread();
    if (i >= n) return;
    const double at[3] = {queries[3 * (int64)i], queries[3 * (int64)i + 1], queries[3 * (int64)i + 2]};
    double dist[NEAREST] = {};
    int found[NEAREST] = {};
    int count = 0;
    double limit = 1e308;
    const auto insert = [&](int j) {
        const double d = squared_distance(at, points + 3 * (int64)j);
        if (d > limit) return;
        int place = count < NEAREST ? count : NEAREST - 1;
        if (count == NEAREST && d >= dist[NEAREST - 1]) return;
        for (; place > 0 && dist[place - 1] > d; place--)
            dist[place] = dist[place - 1], found[place] = found[place - 1];
        dist[place] = d, found[place] = j;
        if (count < NEAREST) count++;
        if (count == NEAREST) limit = dist[NEAREST - 1];
    };
    const int own = query_order[i];
    if (own >= 0) {
        const Block block = blocks[query_block[i]];
        const int middle = near[i];
        const int begin = middle - NEAREST > block.first_slot ? middle - NEAREST : block.first_slot;
        for (int j = begin; j < middle + NEAREST && j < block.end_slot; j++) insert(j);
        count = 0;
        traverse(
            tree, block, first, [&](int node) { return squared_to_box(at, boxes + 6 * (int64)node) > limit; }, insert
        );
    }
    for (int k = 0; k < NEAREST; k++) {
        const int64 other = k < count ? order[found[k]] : 0;
        pairs[i * (int64)NEAREST + k] = k >= count ? -1 : turned ? other * n_cols + own : own * n_cols + other;
    }
}

extern "C" __global__ void auction_point_costs(
    int64 n_pairs, int64 m, const int64* pairs, const double* x, const double* y, double* costs
) {
    const int64 p = blockIdx.x * (int64)blockDim.x + threadIdx.x;
    if (p < n_pairs) costs[p] = cost_of(squared_distance(x + 3 * (pairs[p] / m), y + 3 * (pairs[p] % m)));
}

// rows: (n, 3) sorted; row_order, row_block (n,) their own indices and blocks; selected (k,): slots of the rows that are
// checked; row_duals by own index; indptr, indices: the graph so far. pairs (k, FAN), costs beside, -1 = none: each of
// a row's FAN lanes meets every FAN-th point of the leaves and reports its worst. violated (rows,): set where some pair
// has c - v < r. Beside a violated row's pairs, and beside every row's unless only_violated, pairs with c - v < r +
// margin that the graph lacks are reported: they are next.
extern "C" __global__ void __launch_bounds__(128) auction_price(
    int n_selected, int slots, const int* first, const Block* blocks, const double* points, const int* order,
    const double* boxes, const double* prices, const double* rows, const int* row_order, const int* row_block,
    const int* selected, const double* row_duals, const double* v, const int64* indptr, const int* indices,
    int64 n_cols, double margin, int only_violated, int64* pairs, double* costs, unsigned char* violated
) {
    const int i = global_thread() / FAN, member = threadIdx.x % FAN;
    const uint32 group = 0xffu << (lane() / FAN * FAN);
    if (i >= n_selected) return;
    const int place_of_row = selected[i], own = row_order[place_of_row];
    const Block block = blocks[row_block[place_of_row]];
    const double at[3] = {
        rows[3 * (int64)place_of_row], rows[3 * (int64)place_of_row + 1], rows[3 * (int64)place_of_row + 2]
    };
    const double dual = row_duals[own], limit = dual + margin;
    double worst = limit, worst_cost = 0;
    int found = -1;
    int stack[STACK];
    int size = 0;
    for (int root = block.first_root; root < block.end_root; root++) stack[size++] = block.level << LEVEL_SHIFT | root;
    while (size > 0) {
        const int top = stack[--size], level = top >> LEVEL_SHIFT,
                  child = (top & ((1 << LEVEL_SHIFT) - 1)) * FAN + member;
        const int below = level == 0 ? slots : first[level] - first[level - 1];
        const int col = child < below && level == 0 ? order[child] : -1;
        bool enters = false;
        if (col >= 0) {
            const double cost = cost_of(squared_distance(at, points + 3 * (int64)child)), value = cost - v[col];
            bool is_new = value < worst;
            if (is_new && value >= dual)
                for (int64 e = indptr[own]; e < indptr[own + 1]; e++) is_new = is_new && indices[e] != col;
            if (is_new) worst = value, worst_cost = cost, found = col;
        } else if (child < below && level > 0) {
            const int node = first[level - 1] + child;
            enters = cost_of(squared_to_box(at, boxes + 6 * (int64)node)) * ROUND_DOWN - prices[node] < limit;
        }
        for (uint32 who = __ballot_sync(group, enters) >> (lane() / FAN * FAN); who != 0; who &= who - 1)
            stack[size++] = (level - 1) << LEVEL_SHIFT | (child - member + __ffs(who) - 1);
    }
    const bool breaks = __any_sync(group, found >= 0 && worst < dual);
    if (breaks && member == 0) violated[own] = 1;
    pairs[i * (int64)FAN + member] = found >= 0 && (breaks || !only_violated) ? own * n_cols + found : -1;
    costs[i * (int64)FAN + member] = worst_cost;
}
