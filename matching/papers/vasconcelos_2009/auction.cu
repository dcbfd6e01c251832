// The auction of Vasconcelos and Rosenhahn, "Bipartite graph matching computation on GPU" (EMMCVPR 2009), section
// 5, step by step: a bidding kernel with one thread per person (row), an assignment kernel with one thread per
// object (column), and a loop on the host that runs both until a test says that every person has an object.
//
// Streams, all one-dimensional but the benefits: the objects' prices (here column duals v = -price, from their
// starting value), the object of each person, the person of each object, each person's last bid and its target.
// Equations (6), (10) and (11) are the bid's object, its increment and the winner.
//
// What the paper leaves open: equal highest bids go to the smallest person; with a single acceptable object there
// is no second best, and the increment is eps; a person who is better off unassigned retires and counts as assigned
// (`unmatched_cost`). Convergence, as in section 5.1: `counter` grows by an atomic when an object takes its first
// bid; or the objects' states are written as a boolean stream that a reduction adds up afterwards.
//
// Bytes of an iteration: the benefits of each unassigned person, and every bid once per object, as in the paper.
// Hazards: none within a kernel but the counter; the kernels' order is the only synchronisation.
// variant: -DCOST=double
// variant: -DDENSE -DCOST=float
// variant: -DDENSE -DCOST=double
#include "problem/graph.cuh"

// assigned_persons: null, or a boolean stream of the persons that retired.
extern "C" __global__ void auction_paper_bid(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows, const dual_t* row_bound, const dual_t* v,
    const int* col_of_row, dual_t* bid_value, int* bid_target, unsigned char* retired, int* counter, dual_t eps
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int person = global_thread();
    if (person >= n_rows) return;
    bid_target[person] = NO_MEMBER;
    if (col_of_row[person] != NO_MEMBER || retired[person]) return;
    const int64 first = graph.first(person);
    Choice choice = no_choice(true, row_bound[person]);
    for (int e = 0; e < graph.degree(person); e++) consider(choice, graph.value(first, e, v), e);
    if (choice.best_edge == UNASSIGNED || choice.best >= none()) {
        retired[person] = 1;
        if (counter != nullptr) atomicAdd(counter, 1);
        return;
    }
    const dual_t increment = (choice.second < none() ? choice.second - choice.best : dual_t(0)) + eps;
    bid_target[person] = graph.column(first, choice.best_edge);
    bid_value[person] = v[bid_target[person]] - increment;
}

extern "C" __global__ void auction_paper_assign(
    int n_rows, int n_cols, dual_t* v, int* col_of_row, int* row_of_col, const dual_t* bid_value,
    const int* bid_target, unsigned char* assigned, int* counter
) {
    const int object = global_thread();
    if (object >= n_cols) return;
    int winner = NO_MEMBER;
    for (int person = 0; person < n_rows; person++)
        if (bid_target[person] == object && (winner == NO_MEMBER || bid_value[person] < bid_value[winner]))
            winner = person;
    if (winner != NO_MEMBER) {
        const int outbid = row_of_col[object];
        if (outbid != NO_MEMBER) col_of_row[outbid] = NO_MEMBER;
        else if (counter != nullptr) atomicAdd(counter, 1);
        row_of_col[object] = winner;
        col_of_row[winner] = object;
        v[object] = bid_value[winner];
    }
    if (assigned != nullptr) assigned[object] = row_of_col[object] != NO_MEMBER;
}
