// One sweep, as in sweep.py: what each edge is worth by its displacement and by the edges before and after it.
//
//   densities     share times density of each edge's displacement, by class; a thread an edge
//   contexts      factors from past and future, a thread a detection: it writes the past of the edges out of it and the future
//                 of those into it; and what the law is learned from, summed by each thread on its own
//   uncoupled     the same where steps know of no others; a thread an edge
//   combined      odds, with and without past and future; a thread an edge
//   step_sums     what the law of a step is learned from, summed by each thread on its own
//
// Sums are added up in one order, thread by thread, so that the same movie gives the same law on the same card.
// Bytes: 8 CLASSES an edge and factor; `contexts` reads each edge once a neighbour, from cache. No two threads write one place.
// variant: -DNDIM=3 -DCLASSES=3
// variant: -DNDIM=3 -DCLASSES=1
#include "../tracker/linking/motion/law.cuh"

#ifndef IGNORED
#define IGNORED 1e-3
#define TELLING 0.05
#define TINY 1e-300
#define SUREST 1e130
#endif

extern "C" __global__ void densities(
    int64 edges, const double* step, const int* lag, const double* tables, int lags, double* alone
) {
    const Law law{tables, lags};
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        const int d = lag[e] - 1;
        for (int k = 0; k < CLASSES; k++) {
            const double* precision = law.first_precision(k, d);
            double q = 0.0;
            for (int axis = 0; axis < NDIM; axis++) q += step[NDIM * e + axis] * step[NDIM * e + axis] * precision[axis];
            alone[CLASSES * e + k] = law.share(k) * exp(law.first_norm(k, d) - 0.5 * q) + TINY;
        }
    }
}

// What `contexts` sums, in the order of sweep.Sums; the last three by class and axis.
enum {
    PAIRS, GAIN, KEPT, FRESH, BY_CLASS,
    LATER2 = BY_CLASS + CLASSES,
    PRODUCT = LATER2 + CLASSES * NDIM,
    EARLIER2 = PRODUCT + CLASSES * NDIM,
    N_SUMS = EARLIER2 + CLASSES * NDIM
};

// came, went, tie: (n,). alone, past_class, future_class, past, future: (edges, CLASSES). sums: (N_SUMS, threads).
extern "C" __global__ void contexts(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, const int* lag, const double* step,
    const double* probability, const double* into, const double* out_of, const double* came, const double* went,
    const double* alone, const double* past_class, const double* future_class, const double* tie,
    const double* tables, int lags, double* past, double* future, double* sums
) {
    const Law law{tables, lags};
    const double keeps = law.turn(0), switches = law.turn(1), afresh = law.turn(2);
    double learned[N_SUMS] = {};
    for (int i = global_thread(); i < n; i += all_threads()) {
        const double first = fmax(1.0 - came[i], 1e-6), last = fmax(1.0 - went[i], 1e-6);
        for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) {
            for (int k = 0; k < CLASSES; k++) future[CLASSES * (int64)in_edge[at] + k] = last;
        }
        for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
            const int d = lag[e] - 1;
            double own[CLASSES], later[CLASSES], so_far[CLASSES], plain = 0.0, base = 0.0;
            for (int k = 0; k < CLASSES; k++) {
                own[k] = alone[CLASSES * e + k], later[k] = future_class[CLASSES * e + k];
                plain += own[k], base += own[k] * later[k];
                so_far[k] = first * own[k];
            }
            const double per_base = 1.0 / (base + TINY);
            for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) {
                const int64 g = in_edge[at];
                if (into[g] < IGNORED && out_of[e] < IGNORED) continue;
                const int before = lag[g] - 1;
                double density[CLASSES], joint[CLASSES], drawn = 0.0;
                for (int k = 0; k < CLASSES; k++) {
                    density[k] = law.density(k, before, d, step + NDIM * e, step + NDIM * g);
                    drawn += law.share(k) * density[k] * later[k];
                }
                for (int k = 0; k < CLASSES; k++) {
                    const double kept = keeps * past_class[CLASSES * g + k];
                    joint[k] = (switches * law.share(k) + kept) * density[k] + afresh * own[k];
                    so_far[k] += tie[i] * into[g] * joint[k];
                    const double then = switches * drawn + keeps * density[k] * later[k];
                    future[CLASSES * g + k] += tie[i] * out_of[e] * (afresh + then * per_base);
                }
                const double both = probability[g] * probability[e];
                if (!(both > TELLING) || before != 0 || d != 0) continue;
                double told = 0.0, stay = 0.0, whole = 0.0;
                for (int k = 0; k < CLASSES; k++) {
                    told += joint[k], whole += joint[k] * later[k];
                    stay += keeps * past_class[CLASSES * g + k] * density[k] * later[k];
                }
                if (whole <= TINY) continue;
                const double each = both / whole;
                learned[PAIRS] += both, learned[GAIN] += both * log((told + TINY) / plain);
                learned[KEPT] += each * stay, learned[FRESH] += each * afresh * base;
                for (int k = 0; k < CLASSES; k++) {
                    const double share = each * (joint[k] - afresh * own[k]) * later[k];
                    learned[BY_CLASS + k] += share;
                    for (int axis = 0; axis < NDIM; axis++) {
                        const double y = step[NDIM * e + axis], x = step[NDIM * g + axis];
                        learned[LATER2 + k * NDIM + axis] += share * y * y;
                        learned[PRODUCT + k * NDIM + axis] += share * y * x;
                        learned[EARLIER2 + k * NDIM + axis] += share * x * x;
                    }
                }
            }
            for (int k = 0; k < CLASSES; k++) past[CLASSES * e + k] = so_far[k];
        }
    }
    const int64 thread = global_thread(), threads = all_threads();
    for (int s = 0; s < N_SUMS; s++) sums[s * threads + thread] = learned[s];
}

extern "C" __global__ void uncoupled(
    int64 edges, const int* tail, const int* head, const double* came, const double* went, const double* alone,
    const double* tie, double* past, double* future
) {
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        const int i = tail[e], j = head[e];
        for (int k = 0; k < CLASSES; k++) {
            past[CLASSES * e + k] = alone[CLASSES * e + k] * (1.0 + (tie[i] - 1.0) * came[i]);
            future[CLASSES * e + k] = 1.0 + (tie[j] - 1.0) * went[j];
        }
    }
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
