// Our own search: breadth-first forests from the free rows, every phase and every level inside one kernel.
//
// Beyond Deveci, Kaya, Ucar, Catalyurek (Euro-Par 2013), whose APFB with GPUBFS-WR scans all columns at every level and
// launches a kernel for it. Here a level costs what its frontier costs: queues instead of scans, one grid barrier a
// level, one tree a free row, and a tree stops growing as soon as it owns a free column. Trees share no vertex, so all
// their paths are flipped at once without conflicts, and nothing has to be repaired.
//
// Variables: col_of_row, row_of_col (-1 = free); parent[j] = (row that claimed column j, that row's old column);
// end[i] = free column found by the tree of free row i; queue: rows to scan with their root and edges (read ahead
// while the claim is under way), every row at most once a phase; heavy: rows of more than HEAVY edges in chunks, a warp
// each. free_rows, next_free: this phase's
// roots and those that found nothing. counts: ring of three queue lengths, so that a level can be read, written and
// cleared at once.
// Threads: a row of the frontier is scanned by `lanes` threads, more of them the smaller the frontier.
// Bytes: per scanned edge 4 (index) + 8 (parent) + 4 (row_of_col), the last two from L2 up to some 5 M columns.
// Hazards: columns are claimed by compare-and-swap, so which maximum matching comes out differs from run to run;
// its size and the vertices reached at the end do not.
// variant: -DINDEX64
#include "grid.cuh"

constexpr int HEAVY = 512;
constexpr int CHUNK = 512;
constexpr int HANDFUL = 8;
constexpr int GATHER = 1024;

struct Item {
    offset_t begin;
    int degree, row, root;
};

struct Search {
    const offset_t* indptr;
    const int* indices;
    int n_rows, n_columns;
    int* col_of_row;
    int* row_of_col;
    int2* parent;
    int* end;
    Item* queue;
    Item* heavy;
};

struct Counts {  // rings over level % 3
    int queue[3];
    int heavy[3];
    int found;
    int next_free;
    uint32 arrived;
};

__device__ void enqueue(const Item& item, Item* queue, int* n_queue, Item* heavy, int* n_heavy,
                        Gathered<Item, GATHER>& gathered) {
    if (item.degree <= HEAVY) {
        gathered.add(item, queue, n_queue);
        return;
    }
    const int chunks = (item.degree + CHUNK - 1) / CHUNK;
    const int first = atomicAdd(n_heavy, chunks);
    for (int k = 0; k < chunks; ++k) {
        heavy[first + k] = {item.begin + static_cast<offset_t>(k) * CHUNK, min(CHUNK, item.degree - k * CHUNK),
                            item.row, item.root};
    }
}

__device__ void discover(const Search& s, const Item& from, int old_column, int column, Item* queue, int* n_queue,
                         Item* heavy, int* n_heavy, Counts* counts, Gathered<Item, GATHER>& gathered) {
    const int next = s.row_of_col[column];
    if (load_fresh(&s.parent[column].x) >= 0) return;
    Item item = {0, 0, next, from.root};
    if (next >= 0) {
        item.begin = s.indptr[next];
        item.degree = static_cast<int>(s.indptr[next + 1] - item.begin);
    }
    if (atomicCAS(&s.parent[column].x, -1, from.row) != -1) return;
    if (next >= 0) {
        s.parent[column].y = old_column;
        enqueue(item, queue, n_queue, heavy, n_heavy, gathered);
    } else if (atomicCAS(&s.end[from.root], -1, column) == -1) {
        s.parent[column].y = old_column;
        atomicAdd(&counts->found, 1);
    } else {
        store_fresh(&s.parent[column].x, -1);  // this tree has its path already: leave the column to another
    }
}

// `lanes` threads scan each of `n` items; what they discover goes behind the two fronts.
__device__ void scan(const Search& s, const Item* items, int n, int lanes, int thread, int threads, Item* queue,
                     int* n_queue, Item* heavy, int* n_heavy, Counts* counts, Gathered<Item, GATHER>& gathered) {
    const int mine = thread & (lanes - 1);
    for (int i = thread / lanes; i < n; i += threads / lanes) {
        const Item from = items[i];
        const int old_column = s.col_of_row[from.row];
        const int end = load_fresh(&s.end[from.root]);
        for (int k = mine; k < from.degree; k += lanes) {
            const int column = s.indices[from.begin + k];
            if (end >= 0) break;
            discover(s, from, old_column, column, queue, n_queue, heavy, n_heavy, counts, gathered);
        }
    }
}

// Flips the path that ends in `column`, back to its root.
__device__ void flip(const Search& s, int column) {
    while (column >= 0) {
        const int2 from = s.parent[column];
        s.row_of_col[column] = from.x;
        s.col_of_row[from.x] = column;
        column = from.y;
    }
}

// statistics: six numbers a phase (free rows, paths, levels, rows visited, nanoseconds growing, nanoseconds flipping).
// result: (phases, free rows left, 1 if the matching is maximum, 1 if next_free holds the free rows).
// Leaves early when a phase finds more than `slow_share` of what the phase before found (and not just a handful):
// the number of paths then falls too slowly for phases this long.
// With flip_paths = 0 it only grows the forest of one phase: what it reached is the certificate.
extern "C" __global__ void __launch_bounds__(1024, 1)
    cardinality_search(const offset_t* indptr, const int* indices, int n_rows, int n_columns, int* col_of_row,
                       int* row_of_col, int2* parent, int* end, Item* queue, Item* heavy, int* free_rows,
                       int* next_free, int n_free, float slow_share, int max_phases, int flip_paths,
                       Counts* counts, int* statistics, int* result) {
    const Search s = {indptr, indices, n_rows, n_columns, col_of_row, row_of_col, parent, end, queue, heavy};
    const int thread = global_thread(), threads = all_threads();
    __shared__ int shared_n, shared_heavy;
    __shared__ Gathered<Item, GATHER> gathered;
    if (threadIdx.x == 0) gathered.n = 0;
    __syncthreads();
    int phase = 0, finished = 0, found_before = 0x7fffffff;
    while (n_free > 0 && phase < max_phases) {
        const int64 start = nanoseconds();
        for (int j = thread; j < n_columns; j += threads) parent[j] = make_int2(-1, -1);
        for (int i = thread; i < n_free; i += threads) {
            const int row = free_rows[i];
            end[row] = -1;
            const offset_t begin = indptr[row];
            const Item item = {begin, static_cast<int>(indptr[row + 1] - begin), row, row};
            enqueue(item, queue, &counts->queue[0], heavy, &counts->heavy[0], gathered);
        }
        gathered.flush(queue, &counts->queue[0]);
        if (thread == 0) counts->found = counts->next_free = 0;

        int level = 0, visited = 0;
        Item* front = queue;
        Item* heavy_front = heavy;
        while (true) {
            grid_barrier(&counts->arrived);
            if (threadIdx.x == 0) {
                shared_n = load_fresh(&counts->queue[level % 3]);
                shared_heavy = load_fresh(&counts->heavy[level % 3]);
            }
            __syncthreads();
            const int n = shared_n, n_heavy = shared_heavy;
            if (n + n_heavy == 0) break;
            visited += n;
            if (thread == 0) counts->queue[(level + 2) % 3] = counts->heavy[(level + 2) % 3] = 0;
            int* n_queue = &counts->queue[(level + 1) % 3];
            int* n_heavy_next = &counts->heavy[(level + 1) % 3];
            int lanes = 32;
            while (lanes > 1 && static_cast<int64>(n) * lanes > threads) lanes >>= 1;
            Item* behind = front + n;
            Item* heavy_behind = heavy_front + n_heavy;
            scan(s, front, n, lanes, thread, threads, behind, n_queue, heavy_behind, n_heavy_next, counts,
                 gathered);
            scan(s, heavy_front, n_heavy, 32, thread, threads, behind, n_queue, heavy_behind, n_heavy_next, counts,
                 gathered);
            gathered.flush(behind, n_queue);
            front = behind;
            heavy_front = heavy_behind;
            ++level;
        }

        const int64 grown = nanoseconds();
        for (int i = thread; i < n_free; i += threads) {
            const int row = free_rows[i];
            const int column = load_fresh(&end[row]);
            if (column < 0) {
                next_free[next_place(&counts->next_free)] = row;
            } else if (flip_paths) {
                flip(s, column);
            }
        }
        grid_barrier(&counts->arrived);
        const int found = load_fresh(&counts->found);
        if (thread == 0) {
            for (int k = 0; k < 3; ++k) counts->queue[k] = counts->heavy[k] = 0;
            int* row = statistics + 6 * phase;
            row[0] = n_free, row[1] = found, row[2] = level, row[3] = visited;
            row[4] = static_cast<int>(grown - start), row[5] = static_cast<int>(nanoseconds() - grown);
        }
        ++phase;
        finished = found == 0;
        const bool slow = found > HANDFUL && found > slow_share * found_before;
        found_before = found;
        n_free -= found;
        int* swap = free_rows;
        free_rows = next_free;
        next_free = swap;
        grid_barrier(&counts->arrived);  // all have read `found` before it is cleared
        if (finished || slow || !flip_paths) break;
    }
    if (thread == 0) {
        result[0] = phase;
        result[1] = n_free;
        result[2] = finished || n_free == 0;
        result[3] = phase & 1;  // which of the two lists holds the free rows
    }
}

// Koenig's cover from the last forest: rows not reached (and matched), columns reached.
// `end` is not cleared for matched rows, so a row is reached if it is free or its column is.
extern "C" __global__ void cardinality_search_cover(int n_rows, int n_columns, const int* col_of_row,
                                                    const int2* parent, unsigned char* row_in_cover,
                                                    unsigned char* column_in_cover) {
    for (int i = global_thread(); i < n_rows; i += all_threads()) {
        const int column = col_of_row[i];
        row_in_cover[i] = column >= 0 && parent[column].x < 0;
    }
    for (int j = global_thread(); j < n_columns; j += all_threads()) column_in_cover[j] = parent[j].x >= 0;
}
