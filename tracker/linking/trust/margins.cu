// Margins of links, as in margins.py: what the best assignment costs more without each.
//
//   settled  one round: the cheapest way to settle each freed member of one side, through those across; a thread a member
//   repairs  each link's cheaper repair, Dijkstra over the few rows near it, in the room of its thread; a thread a link in turns
//
// Bytes: 20 an edge and round; a repair reads the edges of the rows it meets. `settled` reads what others write in the same
// round: costs only fall, to the same least ones in any order.
#include "device/common.cuh"

// indptr, neighbours, reduced: edges of this side. owner: partner of each member across, -1 = none. cost: (n,).
extern "C" __global__ void settled(
    int n, const int64* indptr, const int* neighbours, const double* reduced, const int* owner, double* cost, int* changed
) {
    const int k = global_thread();
    if (k >= n) return;
    const double before = cost[k];
    double least = before;
    for (int64 e = indptr[k]; e < indptr[k + 1]; e++) {
        const int partner = owner[neighbours[e]];
        least = fmin(least, reduced[e] + (partner < 0 ? 0.0 : cost[partner]));
    }
    if (least < before) cost[k] = least, *changed = 1;
}

// rows, cols: (links,). room_rows, room_costs: (threads · capacity,); a cost below 0 is one less than minus that of a row gone on
// from. margin: (links,), -1 where the room does not suffice.
extern "C" __global__ void repairs(
    int links, const int* rows, const int* cols, const int64* indptr, const int* indices, const double* reduced,
    const int* row_of_col, const double* settle_row, const double* settle_col, int capacity, int* room_rows,
    double* room_costs, double* margin
) {
    const int64 room = (int64)global_thread() * capacity;
    int* const met = room_rows + room;
    double* const cost = room_costs + room;
    for (int link = global_thread(); link < links; link += all_threads()) {
        const int start = rows[link], freed = cols[link];
        double best = settle_row[start] + settle_col[freed];
        int size = 1;
        met[0] = start, cost[0] = 0.0;
        while (true) {
            int next = -1;
            double so_far = best;
            for (int k = 0; k < size; k++) {
                if (cost[k] >= 0.0 && cost[k] < so_far) so_far = cost[k], next = k;
            }
            if (next < 0) break;
            const int row = met[next];
            cost[next] = -1.0 - so_far;
            for (int64 e = indptr[row]; e < indptr[row + 1] && size <= capacity; e++) {
                const int col = indices[e];
                const double through = so_far + reduced[e];
                if (through >= best || (row == start && col == freed)) continue;
                if (col == freed) {
                    best = through;
                    continue;
                }
                const int partner = row_of_col[col];
                if (partner < 0) continue;
                // As margins.py has it: what the way back costs at least, by what settling takes.
                if (through + settle_row[partner] > best + settle_row[start]) continue;
                if (through + settle_col[freed] > best + settle_col[col]) continue;
                int k = 0;
                while (k < size && met[k] != partner) k++;
                if (k < size) {
                    if (cost[k] >= 0.0) cost[k] = fmin(cost[k], through);
                } else if (size < capacity) {
                    met[size] = partner, cost[size++] = through;
                } else {
                    size = capacity + 1;
                }
            }
            if (size > capacity) break;
        }
        margin[link] = size > capacity ? -1.0 : best;
    }
}
