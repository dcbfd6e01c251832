// One sweep, as in sweep.py: what each edge is worth by its displacement and by the edges before and after it.
//
//   densities     share times density of each edge's displacement, by class; a thread an edge
//   pasts         factors from the edges before each edge, and
//   futures       from those after it; a thread an edge, so that either looks at a pair of edges by itself
//   pairs_summed  what the model is learned from pairs, summed by each thread on its own: apart from the two, which would have
//                 to wait for memory oftener with its sums in their registers
//
// Fewer registers than the compiler would take, and more threads at once: pairs_summed takes half the time, pasts four fifths.
//   combined      odds, with and without past and future; a thread an edge
//   unlinked      densities, factors and odds at once where steps know of no others, and nothing has to wait; a thread an edge
//   step_sums     what the step model is learned from, summed by each thread on its own
//
// Sums are added up in one order, thread by thread, so that the same movie gives the same model on the same card.
// Bytes: 8 CLASSES an edge and factor, 36 + 8 NDIM + 16 CLASSES where steps know of no others; an edge is read once a neighbour, from cache. No two threads write one place.
// variant: -DNDIM=3 -DCLASSES=3
// variant: -DNDIM=3 -DCLASSES=1
#include "../tracker/linking/motion/models/step_model.cuh"

constexpr int THREADS = 256;

#ifndef IGNORED
#define IGNORED 1e-3
#define TELLING 0.05
#define TINY 1e-300
#define SUREST 1e130
#endif

// Share times density of a displacement over d + 1 frames.
__device__ __forceinline__ double density_alone(const StepModel& model, int k, int d, const double* step) {
    const double* precision = model.first_precision(k, d);
    double q = 0.0;
    for (int axis = 0; axis < NDIM; axis++) q += step[axis] * step[axis] * precision[axis];
    return model.share(k) * exp(model.first_norm(k, d) - 0.5 * q) + TINY;
}

extern "C" __global__ void densities(
    int64 edges, const double* step, const int* lag, const double* tables, int lags, double* alone
) {
    const StepModel model{tables, lags};
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        for (int k = 0; k < CLASSES; k++) alone[CLASSES * e + k] = density_alone(model, k, lag[e] - 1, step + NDIM * e);
    }
}

// Every edge of a movie, and what is known of it. past_class, future_class, alone: (edges, CLASSES); came, went, tie: (n,).
struct Edges {
    const int64 *indptr, *in_ptr;
    const int *in_edge, *tail, *head, *lag;
    const double *step, *probability, *into, *out_of, *came, *went, *alone, *past_class, *future_class, *tie;
    StepModel model;

    // Whether the edge g and the edge e after it say nothing of each other.
    __device__ __forceinline__ bool are_silent(int64 g, int64 e) const { return into[g] < IGNORED && out_of[e] < IGNORED; }

    __device__ __forceinline__ double density(int k, int64 g, int64 e) const {
        return model.density(k, lag[g] - 1, lag[e] - 1, step + NDIM * e, step + NDIM * g);
    }

    // Likelihood of the edge e, of class k, after the edge g.
    __device__ __forceinline__ double joint(int k, int64 g, int64 e, double density, double own) const {
        const double kept = model.turn(0) * past_class[CLASSES * g + k];
        return (model.turn(1) * model.share(k) + kept) * density + model.turn(2) * own;
    }
};

#define EDGES                                                                                                           \
    const int64 *indptr, const int64 *in_ptr, const int *in_edge, const int *tail, const int *head, const int *lag,     \
        const double *step, const double *probability, const double *into, const double *out_of, const double *came,    \
        const double *went, const double *alone, const double *past_class, const double *future_class,                  \
        const double *tie, const double *tables, int lags
#define THESE_EDGES                                                                                                     \
    Edges {                                                                                                             \
        indptr, in_ptr, in_edge, tail, head, lag, step, probability, into, out_of, came, went, alone, past_class,       \
            future_class, tie, StepModel { tables, lags }                                                                     \
    }

// past: (edges, CLASSES).
extern "C" __global__ void __launch_bounds__(THREADS, 4) pasts(int64 count, EDGES, double* past) {
    const Edges edges = THESE_EDGES;
    for (int64 e = global_thread(); e < count; e += all_threads()) {
        const int i = tail[e];
        const double first = fmax(1.0 - came[i], 1e-6);
        double own[CLASSES], so_far[CLASSES];
        for (int k = 0; k < CLASSES; k++) own[k] = alone[CLASSES * e + k], so_far[k] = first * own[k];
        for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) {
            const int64 g = in_edge[at];
            if (edges.are_silent(g, e)) continue;
            const double counts = tie[i] * into[g];
            for (int k = 0; k < CLASSES; k++) so_far[k] += counts * edges.joint(k, g, e, edges.density(k, g, e), own[k]);
        }
        for (int k = 0; k < CLASSES; k++) past[CLASSES * e + k] = so_far[k];
    }
}

// future: (edges, CLASSES).
extern "C" __global__ void futures(int64 count, EDGES, double* future) {
    const Edges edges = THESE_EDGES;
    const double keeps = edges.model.turn(0), switches = edges.model.turn(1), afresh = edges.model.turn(2);
    for (int64 g = global_thread(); g < count; g += all_threads()) {
        const int i = head[g];
        const double last = fmax(1.0 - went[i], 1e-6);
        double so_far[CLASSES];
        for (int k = 0; k < CLASSES; k++) so_far[k] = last;
        for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
            if (edges.are_silent(g, e)) continue;
            double likely[CLASSES], any_class = 0.0, base = 0.0;
            for (int k = 0; k < CLASSES; k++) {
                const double later = future_class[CLASSES * e + k];
                likely[k] = edges.density(k, g, e) * later;
                any_class += edges.model.share(k) * likely[k];
                base += alone[CLASSES * e + k] * later;
            }
            const double counts = tie[i] * out_of[e], per_base = 1.0 / (base + TINY);
            for (int k = 0; k < CLASSES; k++) {
                so_far[k] += counts * (afresh + (switches * any_class + keeps * likely[k]) * per_base);
            }
        }
        for (int k = 0; k < CLASSES; k++) future[CLASSES * g + k] = so_far[k];
    }
}

// What `pairs_summed` sums, in the order of step_model.Sums; the last three by class and axis.
enum {
    PAIRS, KEPT, FRESH, BY_CLASS,
    LATER2 = BY_CLASS + CLASSES,
    PRODUCT = LATER2 + CLASSES * NDIM,
    EARLIER2 = PRODUCT + CLASSES * NDIM,
    N_SUMS = EARLIER2 + CLASSES * NDIM
};

// sums: (N_SUMS, threads).
extern "C" __global__ void __launch_bounds__(THREADS, 2) pairs_summed(int64 count, EDGES, double* sums) {
    const Edges edges = THESE_EDGES;
    const double keeps = edges.model.turn(0), afresh = edges.model.turn(2);
    double learned[N_SUMS] = {};
    for (int64 e = global_thread(); e < count; e += all_threads()) {
        const int i = tail[e];
        if (lag[e] != 1 || !(probability[e] > TELLING)) continue;  // no pair is more probable than its later edge
        for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) {
            const int64 g = in_edge[at];
            const double both = probability[g] * probability[e];
            if (!(both > TELLING) || lag[g] != 1 || edges.are_silent(g, e)) continue;
            double share[CLASSES], base = 0.0, stay = 0.0, whole = 0.0;
            for (int k = 0; k < CLASSES; k++) {
                const double own = alone[CLASSES * e + k], later = future_class[CLASSES * e + k];
                const double density = edges.density(k, g, e), joint = edges.joint(k, g, e, density, own);
                base += own * later, whole += joint * later;
                stay += keeps * past_class[CLASSES * g + k] * density * later;
                share[k] = (joint - afresh * own) * later;
            }
            if (whole <= TINY) continue;
            const double each = both / whole;
            learned[PAIRS] += both;
            learned[KEPT] += each * stay, learned[FRESH] += each * afresh * base;
            for (int k = 0; k < CLASSES; k++) {
                learned[BY_CLASS + k] += each * share[k];
                for (int axis = 0; axis < NDIM; axis++) {
                    const double y = step[NDIM * e + axis], x = step[NDIM * g + axis];
                    learned[LATER2 + k * NDIM + axis] += each * share[k] * y * y;
                    learned[PRODUCT + k * NDIM + axis] += each * share[k] * y * x;
                    learned[EARLIER2 + k * NDIM + axis] += each * share[k] * x * x;
                }
            }
        }
    }
    const int64 thread = global_thread(), threads = all_threads();
    for (int s = 0; s < N_SUMS; s++) sums[s * threads + thread] = learned[s];
}

__device__ __forceinline__ double bounded(double odds) { return fmin(fmax(odds, 1.0 / SUREST), SUREST); }

// prior: (lags,), leaving, arriving: (n,), in log-odds. odds, without_past, part_without_future: (edges,). Brings pasts to sums of
// 1 and futures to maxima of 1.
extern "C" __global__ void combined(
    int64 edges, const int* tail, const int* head, const int* lag, const double* prior, const double* leaving,
    const double* arriving, const double* alone, double* past, double* future, double* odds, double* without_past,
    double* part_without_future
) {
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        double total = TINY, own = 0.0, later = TINY, largest = 0.0;
        for (int k = 0; k < CLASSES; k++) {
            const double p = past[CLASSES * e + k], f = future[CLASSES * e + k];
            total += p * f, own += p, later += alone[CLASSES * e + k] * f;
            largest = fmax(largest, f);
        }
        const double base = exp(prior[lag[e] - 1] + leaving[tail[e]] + arriving[head[e]]);
        odds[e] = bounded(base * total), without_past[e] = bounded(base * later);
        part_without_future[e] = bounded(own / total);
        for (int k = 0; k < CLASSES; k++) {
            past[CLASSES * e + k] /= own;
            future[CLASSES * e + k] /= largest;
        }
    }
}

// As `combined`, of past and future that tell no more than whether there are any.
extern "C" __global__ void __launch_bounds__(THREADS, 4) unlinked(
    int64 edges, const int* tail, const int* head, const int* lag, const double* prior, const double* leaving,
    const double* arriving, const double* step, const double* tables, int lags, const double* came, const double* went,
    const double* tie, double* past, double* future, double* odds, double* without_past, double* part_without_future
) {
    const StepModel model{tables, lags};
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        const int i = tail[e], j = head[e], d = lag[e] - 1;
        const double before = 1.0 + (tie[i] - 1.0) * came[i], after = 1.0 + (tie[j] - 1.0) * went[j];
        double alone[CLASSES], all = 0.0;
        for (int k = 0; k < CLASSES; k++) alone[k] = density_alone(model, k, d, step + NDIM * e), all += alone[k];
        const double base = exp(prior[d] + leaving[i] + arriving[j]), own = before * all, later = after * all;
        odds[e] = bounded(base * (own * after + TINY)), without_past[e] = bounded(base * (later + TINY));
        part_without_future[e] = bounded(own / (own * after + TINY));
        for (int k = 0; k < CLASSES; k++) past[CLASSES * e + k] = alone[k] / all, future[CLASSES * e + k] = 1.0;
    }
}

// sums: (CLASSES (1 + NDIM), threads): of probabilities, then of squared displacements per axis.
extern "C" __global__ void step_sums(
    int64 edges, const double* step, const int* lag, const double* probability, const double* past,
    const double* future, double* sums
) {
    double total[CLASSES] = {}, squares[CLASSES][NDIM] = {};
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        if (lag[e] != 1 || probability[e] < IGNORED) continue;
        double whole = TINY;
        for (int k = 0; k < CLASSES; k++) whole += past[CLASSES * e + k] * future[CLASSES * e + k];
        for (int k = 0; k < CLASSES; k++) {
            const double share = probability[e] * past[CLASSES * e + k] * future[CLASSES * e + k] / whole;
            total[k] += share;
            for (int axis = 0; axis < NDIM; axis++) {
                squares[k][axis] += share * step[NDIM * e + axis] * step[NDIM * e + axis];
            }
        }
    }
    const int64 thread = global_thread(), threads = all_threads();
    for (int k = 0; k < CLASSES; k++) {
        sums[k * threads + thread] = total[k];
        for (int axis = 0; axis < NDIM; axis++) sums[(CLASSES + k * NDIM + axis) * threads + thread] = squares[k][axis];
    }
}
