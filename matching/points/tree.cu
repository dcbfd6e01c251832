// Matrix-free costs: nearest neighbours of two point sets, and the check of all pairs against prices, through one
// tree.
//
// Points are sorted along a Morton curve; 8 neighbours in that order make a leaf, 8 nodes the node above. A node
// holds the box of its points and their largest price. So a row sees all columns in O(log m) steps: a subtree is
// skipped when the distance to its box less its largest price is no better than the row's dual ("solve sparse,
// certify dense"). Box distances are rounded down; pair costs are computed as on the CPU, without contraction, so
// that one cost has one value.
//
// A batch is one tree over all blocks: each block's points fill slots of their own, padded (order -1) so that no node
// below its roots holds points of two blocks, and a search starts in the few roots of its block.
//
//   auction_box        the box of both sets
//   auction_keys, auction_fill_slots  where points come: by block, then by Morton code of 21 bits an axis
//   auction_tree       the nodes of one level, a thread a node
//   auction_neighbours the NEAREST nearest points of every point, and one at the same part of the curve, a thread a point
//   auction_first_pairs, auction_graph_of_pairs  rows' edges and their costs from a list of pairs, some there twice
//   auction_price      up to FAN pairs of a row with c - v < r, FAN lanes a row
//
// Bytes: about 60 per node visited, some hundred nodes a query. No two threads write the same place, but for counts
// and the box; auction_price's list of rows is in no order, and is sorted after.
// variant: -DSQUARED
#include "device/common.cuh"

constexpr int FAN = 8;
constexpr int NEAREST = 16;
constexpr int NO_MEMBER = -1;
constexpr int LEVEL_SHIFT = 27;  // a node on the stack: level << 27 | index
constexpr int STACK = 96;
constexpr double ROUND_DOWN = 1.0 - 16 * 2.220446049250313e-16;

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

// Visits every slot j of a block for which no node above was skipped. skip(node), visit(slot).
template <class Skip, class Visit>
__device__ __forceinline__ void traverse(int slots, const Block& block, const int* first, Skip skip, Visit visit) {
    int stack[STACK];
    int size = 0;
    for (int root = block.first_root; root < block.end_root; root++) stack[size++] = block.level << LEVEL_SHIFT | root;
    while (size > 0) {
        const int top = stack[--size], level = top >> LEVEL_SHIFT, index = top & ((1 << LEVEL_SHIFT) - 1);
        if (skip(first[level] + index)) continue;
        const int begin = index * FAN, below = level == 0 ? slots : first[level] - first[level - 1];
        const int end = begin + FAN < below ? begin + FAN : below;
        if (level == 0)
            for (int j = begin; j < end; j++) visit(j);
        else
            for (int k = begin; k < end; k++) stack[size++] = (level - 1) << LEVEL_SHIFT | k;
    }
}

// Doubles as words in the same order.
__device__ __forceinline__ uint64 ordered(double x) {
    const uint64 bits = (uint64)__double_as_longlong(x);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ __forceinline__ double from_ordered(uint64 word) {
    return __longlong_as_double((int64)(word >> 63 ? word ^ 1ull << 63 : ~word));
}

// box: (6,) 0 at the start, or on return the largest coordinates of both sets, and the least inverted, as ordered words.
extern "C" __global__ void auction_box(int n, const double* x, int m, const double* y, uint64* box) {
    double low[3] = {1e308, 1e308, 1e308}, high[3] = {-1e308, -1e308, -1e308};
    for (int64 i = global_thread(); i < n + (int64)m; i += all_threads()) {
        const double* at = i < n ? x + 3 * i : y + 3 * (i - n);
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
    }
    for (int k = 0; k < 3; k++) {
        for (int step = 16; step > 0; step /= 2) {
            low[k] = fmin(low[k], __shfl_xor_sync(FULL_WARP, low[k], step));
            high[k] = fmax(high[k], __shfl_xor_sync(FULL_WARP, high[k], step));
        }
        if (lane() == 0) {
            atomicMax(&box[k], ordered(high[k]));
            atomicMax(&box[3 + k], ~ordered(low[k]));
        }
    }
}

// keys: the block in the highest `block_bits` of 63, and below it as much of the Morton code as there is room for.
extern "C" __global__ void auction_keys(
    int n, const double* points, const uint64* box, const int* block_of_point, int block_bits, uint64* keys
) {
    const int i = global_thread();
    if (i >= n) return;
    double extent = 0;
    for (int axis = 0; axis < 3; axis++)
        extent = fmax(extent, from_ordered(box[axis]) - from_ordered(~box[3 + axis]));
    const double cells_per_unit = extent > 0 ? 2097152.0 / extent : 1.0;
    uint64 code = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double cell = (points[3 * (int64)i + axis] - from_ordered(~box[3 + axis])) * cells_per_unit;
        const uint64 c = (uint64)fmin(fmax(cell, 0.0), 2097151.0);
        for (int bit = 0; bit < 21; bit++) code |= ((c >> bit) & 1ull) << (3 * bit + 2 - axis);
    }
    keys[i] = (uint64)block_of_point[i] << (63 - block_bits) | code >> block_bits;
}

// Puts point sorted[p], whose block is that of point p since blocks stay in order, into its slot; sorted_keys: (n,) theirs.
extern "C" __global__ void auction_fill_slots(
    int n, const double* points, const int64* sorted, const uint64* keys, const int* block_of_point,
    const Block* blocks, const int64* offsets, uint64* sorted_keys, int* order, int* block, double* sorted_points
) {
    const int p = global_thread();
    if (p >= n) return;
    const int b = block_of_point[p], slot = (int)(p - offsets[b]) + blocks[b].first_slot;
    const int64 point = sorted[p];
    sorted_keys[p] = keys[point];
    order[slot] = (int)point;
    block[slot] = b;
    for (int k = 0; k < 3; k++) sorted_points[3 * (int64)slot + k] = points[3 * point + k];
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

// One side of the problem, `Side` in gpu_tree.py.
struct Side {
    int slots;
    const int* __restrict__ first;      // (levels + 1,) where each level's nodes begin
    const Block* __restrict__ blocks;
    const double* __restrict__ points;  // (slots, 3), sorted
    const int* __restrict__ order;      // (slots,) index of each sorted point in the caller's order, -1 = no point
    const double* __restrict__ boxes;   // (nodes, 6): lower corner, upper corner; leaves first, then level after level
    const int* __restrict__ block;      // (slots,)
    const uint64* __restrict__ keys;    // (points,) block and place on the curve, ascending
    const int64* __restrict__ offsets;  // (blocks + 1,)
};

// The slot of `other` near which the point of a slot of `own` would be sorted in.
__device__ __forceinline__ int place_among(const Side& own, const Side& other, int b, int slot) {
    const uint64 key = own.keys[slot - own.blocks[b].first_slot + own.offsets[b]];
    int64 low = other.offsets[b], high = other.offsets[b + 1];
    while (low < high) {
        const int64 middle = (low + high) / 2;
        if (other.keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)(low - other.offsets[b]) + other.blocks[b].first_slot;
}

// Calls report(k, slot) for k below NEAREST: a nearest point of the other side, or -1 beyond their number.
template <class Report>
__device__ __forceinline__ void nearest(const Side& own, const Side& other, int b, int slot, Report report) {
    const double at[3] = {own.points[3 * (int64)slot], own.points[3 * (int64)slot + 1], own.points[3 * (int64)slot + 2]};
    double dist[NEAREST] = {};
    int found[NEAREST] = {};
    int count = 0;
    double limit = 1e308;
    const auto insert = [&](int j) {
        const double d = squared_distance(at, other.points + 3 * (int64)j);
        if (d > limit) return;
        int place = count < NEAREST ? count : NEAREST - 1;
        if (count == NEAREST && d >= dist[NEAREST - 1]) return;
        for (; place > 0 && dist[place - 1] > d; place--)
            dist[place] = dist[place - 1], found[place] = found[place - 1];
        dist[place] = d, found[place] = j;
        if (count < NEAREST) count++;
        if (count == NEAREST) limit = dist[NEAREST - 1];
    };
    const Block block = other.blocks[b];
    const int middle = place_among(own, other, b, slot);
    const int begin = middle - NEAREST > block.first_slot ? middle - NEAREST : block.first_slot;
    for (int j = begin; j < middle + NEAREST && j < block.end_slot; j++) insert(j);
    count = 0;
    const auto too_far = [&](int node) { return squared_to_box(at, other.boxes + 6 * (int64)node) > limit; };
    traverse(other.slots, block, other.first, too_far, insert);
    for (int k = 0; k < NEAREST; k++) report(k, k < count ? found[k] : -1);
}

// A thread a slot, of the rows first. pairs: (row slots, NEAREST + 1), then (column slots, NEAREST): row * columns +
// column, or -1. A row's last pair, where they are asked for, is the column at the same part of the curve.
extern "C" __global__ void __launch_bounds__(128) auction_neighbours(
    int row_slots, const int* row_first, const Block* row_blocks, const double* row_points, const int* row_order,
    const double* row_boxes, const int* row_block, const uint64* row_keys, const int64* row_offsets, int col_slots,
    const int* col_first, const Block* col_blocks, const double* col_points, const int* col_order,
    const double* col_boxes, const int* col_block, const uint64* col_keys, const int64* col_offsets, int equal_ranks,
    int64 n_cols, int64* pairs
) {
    const Side rows{row_slots, row_first, row_blocks, row_points, row_order, row_boxes, row_block, row_keys, row_offsets};
    const Side cols{col_slots, col_first, col_blocks, col_points, col_order, col_boxes, col_block, col_keys, col_offsets};
    const int thread = global_thread();
    if (thread >= row_slots + col_slots) return;
    const bool is_row = thread < row_slots;
    const Side& own = is_row ? rows : cols;
    const Side& other = is_row ? cols : rows;
    const int slot = is_row ? thread : thread - row_slots, width = is_row ? NEAREST + 1 : NEAREST;
    int64* mine = pairs + (is_row ? 0 : row_slots * (int64)(NEAREST + 1)) + slot * (int64)width;
    const int64 self = own.order[slot];
    for (int k = 0; k < width; k++) mine[k] = -1;
    if (self < 0) return;
    const int b = own.block[slot];
    nearest(own, other, b, slot, [&](int k, int found) {
        const int64 it = found < 0 ? -1 : other.order[found];
        if (it >= 0) mine[k] = is_row ? self * n_cols + it : it * n_cols + self;
    });
    if (!is_row || !equal_ranks) return;
    const Block here = own.blocks[b], there = other.blocks[b];
    const int64 rank = slot - here.first_slot, size = here.end_slot - here.first_slot;
    const int64 place = there.first_slot + rank * (there.end_slot - there.first_slot) / size;
    mine[NEAREST] = self * n_cols + other.order[place];
}

// Whether each of ascending pairs is one, and the first of its like: a thread a pair.
extern "C" __global__ void auction_first_pairs(int64 n_pairs, const int64* pairs, signed char* is_first) {
    const int64 p = blockIdx.x * (int64)blockDim.x + threadIdx.x;
    if (p < n_pairs) is_first[p] = pairs[p] >= 0 && (p == 0 || pairs[p - 1] != pairs[p]);
}

// From ascending pairs row * columns + column, -1 before them, to a graph: a thread a pair. place: (n_pairs,) the number of
// different pairs up to each.
extern "C" __global__ void auction_graph_of_pairs(
    int64 n_pairs, int n_rows, int64 n_cols, const int64* pairs, const int64* place, const double* x, const double* y,
    int64* indptr, int* indices, double* costs
) {
    const int64 p = blockIdx.x * (int64)blockDim.x + threadIdx.x;
    if (p >= n_pairs) return;
    const int64 before = p > 0 ? pairs[p - 1] : -1, row_before = before < 0 ? -1 : before / n_cols;
    const int64 edges_before = p > 0 ? place[p - 1] : 0, row = pairs[p] < 0 ? -1 : pairs[p] / n_cols;
    for (int64 r = row_before + 1; r <= row; r++) indptr[r] = edges_before;
    if (p == n_pairs - 1)
        for (int64 r = row + 1; r <= n_rows; r++) indptr[r] = place[p];
    if (place[p] == edges_before) return;
    const int64 col = pairs[p] % n_cols;
    indices[edges_before] = (int)col;
    costs[edges_before] = cost_of(squared_distance(x + 3 * row, y + 3 * col));
}

// rows: (row_slots, 3) sorted; row_order, row_block their own indices, -1 = none, and blocks; row_duals by own index;
// indptr, indices: the graph so far. Rows whose dual is above `checked` are checked: each of a row's FAN lanes meets
// every FAN-th point of the leaves and reports its worst: number (rows,), columns and costs (rows, FAN), columns ascending.
// violated rows: the rows of which some pair has c - v < r, and those of has_slack (null: none); `checked` takes the duals of the
// others. Beside a violated row's pairs, and beside every row's unless only_violated, pairs with c - v < r + margin that
// the graph lacks are reported: they are next. counts: pairs reported, rows violated rows; 0 at the start.
extern "C" __global__ void __launch_bounds__(128) auction_price(
    int slots, const int* first, const Block* blocks, const double* points, const int* order, const double* boxes,
    const double* prices, int row_slots, const double* rows, const int* row_order, const int* row_block,
    const double* row_duals, const double* v, const int64* indptr, const int* indices, double margin,
    int only_violated, const unsigned char* has_slack, double* checked, int* violated, int* number, int* columns,
    double* costs, int* counts
) {
    const int place_of_row = global_thread() / FAN, member = threadIdx.x % FAN;
    const uint32 group = 0xffu << (lane() / FAN * FAN);
    const int own = place_of_row < row_slots ? row_order[place_of_row] : NO_MEMBER;
    if (own == NO_MEMBER) return;
    const bool own_has_slack = has_slack != nullptr && has_slack[own];
    if (!(row_duals[own] > checked[own])) {
        if (member == 0) number[own] = 0;
        if (member == 0 && own_has_slack) violated[next_place(&counts[1])] = own;
        return;
    }
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
        for (uint32 ballot = __ballot_sync(group, enters) >> (lane() / FAN * FAN); ballot != 0; ballot &= ballot - 1)
            stack[size++] = (level - 1) << LEVEL_SHIFT | (child - member + __ffs(ballot) - 1);
    }
    const bool breaks = __any_sync(group, found >= 0 && worst < dual), reports = found >= 0 && (breaks || !only_violated);
    const uint32 ballot = __ballot_sync(group, reports) >> (lane() / FAN * FAN);
    int place = 0;
    for (int k = 0; k < FAN; k++) {
        const int there = __shfl_sync(group, found, k, FAN);
        place += (ballot >> k & 1u) && there < found;
    }
    if (reports) columns[own * (int64)FAN + place] = found, costs[own * (int64)FAN + place] = worst_cost;
    if (member != 0) return;
    number[own] = __popc(ballot);
    if (ballot != 0) atomicAdd(&counts[0], __popc(ballot));
    checked[own] = breaks ? -1e308 : dual;
    if (breaks || own_has_slack) violated[next_place(&counts[1])] = own;
}
