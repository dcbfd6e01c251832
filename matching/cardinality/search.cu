// Our own search: breadth-first forests from the free rows, every phase and every level inside one kernel.
//
// Beyond Deveci, Kaya, Ucar, Catalyurek (Euro-Par 2013), whose APFB with GPUBFS-WR scans all columns at every level and
// launches a kernel for it. Here a level costs what its frontier costs: queues instead of scans, one grid barrier a
// level (two where free columns are found, none while few rows are under way), one tree a free row, and a tree stops
// growing as soon as it owns a free column. Trees share no vertex, so all their paths are augmented at once without
// conflicts, and nothing has to be repaired. Of the rows that come to a column on one level the lowest gets it, and a
// tree stops at its lowest free column: the outcome is the same on every run and every device.
//
// Variables: col_of_row, row_of_col (-1 = free); claim[j] = (level + 1) << 32 | ~row of the row that has column j, 0 =
// none: the larger word wins, so a later level takes over a free column whose tree stopped elsewhere; tree[i] = (free
// row that the tree of row i grows from, column that led to i or -1); parent[j] = (row that has column j, that row's
// own column); sink[i] = free column of the tree of free row i, or NO_SINK; queue: two buffers, this level's rows and the
// next's, with the column that led to them and their edges (read ahead while the claim is under way); heavy: rows of
// more than HEAVY edges in chunks, a warp each; touched: free columns claimed on this level. A row that sees a free
// column looks again on the next level, unless its tree has stopped: another may have won the column and left it.
// free_rows, next_free: this phase's roots and those that found nothing. counts: rings of three lengths, so that a
// level can be read, written and cleared at once.
// Threads: a row of the frontier is scanned by `lanes` threads, more of them the smaller the frontier.
// Bytes: per scanned edge 4 (index) + 8 (claim) + 4 (row_of_col), the last two from L2 up to some 5 M columns.
// Hazards: none decides anything: claims are maxima, sinks are minima, both final before the barrier after them.
// variant: -DINDEX64
#include "device/common.cuh"

#ifndef HEAVY  // smaller in tests
#define HEAVY 512
#define CHUNK 512
#define HANDFUL 8
#define GATHER 1024
#define FEW 256  // so few rows are left to one block, which needs no grid barrier
#endif
constexpr int MOST_LEVELS = 1 << 14;  // of all phases of a launch, whose sizes are written down

struct Item {
    offset_t begin;
    int degree, row, column;
};

struct Counts {  // rings over level % 3
    int queue[3];
    int heavy[3];
    int touched[3];
    int level;
    int found;
    int next_free;
    uint32 arrived;
};

struct Search {
    const offset_t* indptr;
    const int* indices;
    int n_rows, n_columns;
    int* col_of_row;
    int* row_of_col;
    uint64* claim;
    int2* tree;
    int2* parent;
    int* sink;
    int* touched;
    Item* queue;  // two buffers of n_rows
    Item* heavy;  // two buffers of most_heavy
    int most_heavy;
    Counts* counts;
};

// Where a level puts what it discovers.
struct Behind {
    Item* queue;
    int* n_queue;
    Item* heavy;
    int* n_heavy;
    int* n_touched;
};

__device__ __forceinline__ uint64 claim_of(int row, int level) {
    return static_cast<uint64>(level + 1) << 32 | ~static_cast<uint32>(row);
}
__device__ __forceinline__ int claimer(uint64 claim) { return static_cast<int>(~static_cast<uint32>(claim)); }
__device__ __forceinline__ int claimed_on(uint64 claim) { return static_cast<int>(claim >> 32) - 1; }

__device__ void enqueue(const Item& item, const Behind& behind, Gathered<Item, GATHER>& gathered) {
    if (item.degree <= HEAVY) {
        gathered.add(item, behind.queue, behind.n_queue);
        return;
    }
    const int chunks = (item.degree + CHUNK - 1) / CHUNK;
    const int first = atomicAdd(behind.n_heavy, chunks);
    for (int k = 0; k < chunks; ++k) {
        behind.heavy[first + k] = {item.begin + static_cast<offset_t>(k) * CHUNK, min(CHUNK, item.degree - k * CHUNK),
                                   item.row, item.column};
    }
}

// What a row sees of a column: the row that has it, and which has claimed it.
struct Sight {
    int next;
    uint64 held;
};

__device__ __forceinline__ Sight look(const Search& s, int column) {
    return {s.row_of_col[column], load_fresh(&s.claim[column])};
}

// Claims a column for a row; returns whether it is free and to be had.
__device__ bool discover(const Search& s, int row, int level, int column, const Sight& seen, const Behind& behind,
                         Gathered<Item, GATHER>& gathered) {
    const int next = seen.next;
    if (seen.held != 0 && claimed_on(seen.held) < level) {
        if (next >= 0 || load_fresh(&s.sink[s.tree[claimer(seen.held)].x]) == column) return false;
    }
    const uint64 claim = claim_of(row, level);
    if (seen.held < claim) {
        Item item = {0, 0, next, column};
        if (next >= 0) {
            item.begin = s.indptr[next];
            item.degree = static_cast<int>(s.indptr[next + 1] - item.begin);
        }
        const bool is_first = claimed_on(atomicMax(&s.claim[column], claim)) != level;
        if (is_first && next >= 0) enqueue(item, behind, gathered);
        if (is_first && next < 0) s.touched[next_place(behind.n_touched)] = column;
    }
    return next < 0;
}

// `lanes` threads scan each of `n` items; what they discover goes behind, and so do rows that must look again.
// The way to the root and the first look at a column are under way at once: a small level costs what they take.
__device__ void scan(const Search& s, const Item* items, int n, int lanes, bool are_chunks, int level,
                     const Behind& behind, Gathered<Item, GATHER>& gathered, int thread, int threads) {
    const int mine = thread & (lanes - 1);
    const uint32 group = lanes == 32 ? FULL_WARP : ((1u << lanes) - 1u) << (lane() & ~(lanes - 1));
    for (int i = thread / lanes; i < n; i += threads / lanes) {
        const Item from = items[i];
        int column = mine < from.degree ? s.indices[from.begin + mine] : -1;
        int owner = -1;
        int2 its_tree = make_int2(from.row, -1);
        if (from.column >= 0) {
            owner = claimer(load_fresh(&s.claim[from.column]));
            its_tree = s.tree[owner];
        }
        Sight seen = {-1, 0};
        if (column >= 0) seen = look(s, column);
        if (mine == 0) {
            if (owner >= 0) s.parent[from.column] = make_int2(owner, its_tree.y);
            s.tree[from.row] = make_int2(its_tree.x, from.column);
        }
        if (load_fresh(&s.sink[its_tree.x]) != NO_SINK) continue;
        bool sees_free = false;
        for (int k = mine; k < from.degree; k += lanes) {
            sees_free |= discover(s, from.row, level, column, seen, behind, gathered);
            if (k + lanes < from.degree) {
                column = s.indices[from.begin + k + lanes];
                seen = look(s, column);
            }
        }
        if (__any_sync(group, sees_free) && mine == 0) {
            if (are_chunks) {
                behind.heavy[next_place(behind.n_heavy)] = from;
            } else {
                gathered.add(from, behind.queue, behind.n_queue);
            }
        }
    }
}

// What the level before has left: rows and chunks to scan, free columns touched.
struct Front {
    int n, n_heavy, n_touched;
};

__device__ Front front_of(const Counts* counts, int level) {
    __shared__ Front front;
    if (threadIdx.x == 0) {
        front = {load_fresh(&counts->queue[level % 3]), load_fresh(&counts->heavy[level % 3]),
                 load_fresh(&counts->touched[level % 3])};
    }
    __syncthreads();
    return front;
}

// Each tree that has free columns takes the lowest.
__device__ void stop_trees(const Search& s, int n_touched, int thread, int threads) {
    for (int i = thread; i < n_touched; i += threads) {
        const int column = s.touched[i];
        const int root = s.tree[claimer(load_fresh(&s.claim[column]))].x;
        if (atomicMin(&s.sink[root], column) == NO_SINK) next_place(&s.counts->found);
    }
}

__device__ void grow(const Search& s, const Front& front, int level, Gathered<Item, GATHER>& gathered, int thread,
                     int threads) {
    Counts* counts = s.counts;
    if (thread == 0) {
        const int cleared = (level + 2) % 3;
        counts->queue[cleared] = counts->heavy[cleared] = counts->touched[cleared] = 0;
    }
    const int next = (level + 1) % 3, even = level % 2, odd = 1 - even;
    const Behind behind = {s.queue + static_cast<int64>(odd) * s.n_rows, &counts->queue[next],
                           s.heavy + static_cast<int64>(odd) * s.most_heavy, &counts->heavy[next],
                           &counts->touched[next]};
    int lanes = 32;
    while (lanes > 1 && static_cast<int64>(front.n) * lanes > threads) lanes >>= 1;
    scan(s, s.queue + static_cast<int64>(even) * s.n_rows, front.n, lanes, false, level, behind, gathered, thread,
         threads);
    scan(s, s.heavy + static_cast<int64>(even) * s.most_heavy, front.n_heavy, 32, true, level, behind, gathered,
         thread, threads);
    gathered.flush(behind.queue, behind.n_queue);
}

__device__ __forceinline__ bool are_few(const Front& front) {
    return front.n > 0 && front.n <= FEW && front.n_heavy == 0;
}

// Writes down how many rows and chunks a level scans. For one thread.
__device__ __forceinline__ void note(int* sizes, int level, const Front& front) {
    if (level < MOST_LEVELS) sizes[level] = front.n + front.n_heavy;
}

// One block grows all trees while few rows are under way; returns the level it comes to.
__device__ int grow_alone(const Search& s, int level, int levels_before, int* sizes, int* visited,
                          Gathered<Item, GATHER>& gathered) {
    for (;; ++level) {
        __syncthreads();
        const Front front = front_of(s.counts, level);
        if (!are_few(front)) return level;
        if (front.n_touched > 0) {
            stop_trees(s, front.n_touched, threadIdx.x, blockDim.x);
            __syncthreads();
        }
        *visited += front.n;
        if (threadIdx.x == 0) note(sizes, levels_before + level, front);
        grow(s, front, level, gathered, threadIdx.x, blockDim.x);
    }
}

// Augments along the path that ends in `column`, back to its root.
__device__ void augment_path(const Search& s, int column) {
    const int last = claimer(s.claim[column]);
    int2 from = make_int2(last, s.tree[last].y);
    while (true) {
        s.row_of_col[column] = from.x;
        s.col_of_row[from.x] = column;
        column = from.y;
        if (column < 0) return;
        from = s.parent[column];
    }
}

// statistics: six numbers a phase (free rows, paths, levels, rows visited, nanoseconds growing, nanoseconds augmenting).
// sizes: rows and chunks of each level, of one phase after another, up to MOST_LEVELS.
// result: (phases, free rows left, 1 if the matching is maximum, 1 if next_free holds the free rows).
// Leaves early when a phase finds more than `slow_share` of what the phase before found (and not just a handful):
// the number of paths then falls too slowly for phases this long.
// With augments = 0 it only grows the forest of one phase: what it reached is the certificate.
extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_search(const offset_t* indptr, const int* indices, int n_rows, int n_columns, int* col_of_row,
                       int* row_of_col, uint64* claim, int2* tree, int2* parent, int* sink, Item* queue, Item* heavy,
                       int most_heavy, int* touched, int* free_rows, int* next_free, int n_free, float slow_share,
                       int max_phases, int augments, Counts* counts, int* statistics, int* sizes, int* result) {
    const Search s = {indptr, indices, n_rows, n_columns, col_of_row, row_of_col, claim,  tree,
                      parent, sink,     touched, queue,     heavy,      most_heavy, counts};
    const int thread = global_thread(), threads = all_threads();
    __shared__ Gathered<Item, GATHER> gathered;
    if (threadIdx.x == 0) gathered.n = 0;
    __syncthreads();
    int phase = 0, levels_before = 0, finished = 0, found_before = 0x7fffffff;
    while (n_free > 0 && phase < max_phases) {
        const int64 start = nanoseconds();
        const Behind first = {queue, &counts->queue[0], heavy, &counts->heavy[0], nullptr};
        for (int j = thread; j < n_columns; j += threads) claim[j] = 0;
        for (int i = thread; i < n_free; i += threads) {
            const int row = free_rows[i];
            sink[row] = NO_SINK;
            const offset_t begin = indptr[row];
            enqueue({begin, static_cast<int>(indptr[row + 1] - begin), row, -1}, first, gathered);
        }
        gathered.flush(queue, &counts->queue[0]);
        if (thread == 0) counts->found = counts->next_free = 0;

        int level = 0, visited = 0;
        while (true) {
            grid_barrier(&counts->arrived);
            const Front front = front_of(counts, level);
            if (are_few(front)) {
                grid_barrier(&counts->arrived);  // all have read the counts before one block changes them
                if (blockIdx.x == 0) {
                    level = grow_alone(s, level, levels_before, sizes, &visited, gathered);
                    if (threadIdx.x == 0) store_fresh(&counts->level, level);
                }
                grid_barrier(&counts->arrived);
                level = load_fresh(&counts->level);
                continue;
            }
            if (front.n_touched > 0) {
                stop_trees(s, front.n_touched, thread, threads);
                grid_barrier(&counts->arrived);
            }
            if (front.n + front.n_heavy == 0) break;
            visited += front.n;
            if (thread == 0) note(sizes, levels_before + level, front);
            grow(s, front, level, gathered, thread, threads);
            ++level;
        }

        const int64 grown = nanoseconds();
        for (int i = thread; i < n_free; i += threads) {
            const int row = free_rows[i];
            const int column = sink[row];
            if (column == NO_SINK) {
                next_free[next_place(&counts->next_free)] = row;
            } else if (augments) {
                augment_path(s, column);
            }
        }
        grid_barrier(&counts->arrived);
        const int found = load_fresh(&counts->found);
        if (thread == 0) {
            for (int k = 0; k < 3; ++k) counts->queue[k] = counts->heavy[k] = counts->touched[k] = 0;
            int* row = statistics + 6 * phase;
            row[0] = n_free, row[1] = found, row[2] = level, row[3] = visited;
            row[4] = static_cast<int>(grown - start), row[5] = static_cast<int>(nanoseconds() - grown);
        }
        ++phase;
        levels_before = min(levels_before + level, MOST_LEVELS);
        finished = found == 0;
        const bool slow = found > HANDFUL && found > slow_share * found_before;
        found_before = found;
        n_free -= found;
        int* swap = free_rows;
        free_rows = next_free;
        next_free = swap;
        grid_barrier(&counts->arrived);  // all have read `found` before it is cleared
        if (finished || slow || !augments) break;
    }
    if (thread == 0) {
        result[0] = phase;
        result[1] = n_free;
        result[2] = finished || n_free == 0;
        result[3] = phase & 1;  // which of the two lists holds the free rows
    }
}

// Koenig's cover from the last forest: rows not reached (and matched), columns reached.
// A row is reached if it is free or its column is.
extern "C" __global__ void cardinality_search_cover(int n_rows, int n_columns, const int* col_of_row,
                                                    const uint64* claim, unsigned char* row_in_cover,
                                                    unsigned char* column_in_cover) {
    for (int i = global_thread(); i < n_rows; i += all_threads()) {
        const int column = col_of_row[i];
        row_in_cover[i] = column >= 0 && claim[column] == 0;
    }
    for (int j = global_thread(); j < n_columns; j += all_threads()) column_in_cover[j] = claim[j] != 0;
}
