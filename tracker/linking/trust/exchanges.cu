// Exchanges of a detection between two tracks, as in exchanges.py, and passed_over.py; a thread a detection.
//
//   links_laid  the edge of each link, by its tail and by its head
//   exchanged   the odds of all of these that undo each link, by its tail, in 2^-40ths: whole numbers add up
//               alike in any order
// variant: -DNDIM=3 -DCLASSES=3
#include "../tracker/linking/motion/models/step_model.cuh"

constexpr double LEAST = 1e-12;  // odds that do not count, and those of one chain that no gain of another makes up for
constexpr double ONE = 1099511627776.0, MOST = 1048576.0;

__device__ __forceinline__ int edge_between(const int64* indptr, const int* head, int i, int j) {
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        if (head[e] == j) return (int)e;
    }
    return -1;
}

// Candidates and the links among them. allowed: (edges,); out, into: (n,) edges, -1 where none is made.
struct Chains {
    const int64* indptr;
    const int *tail, *head, *lag;
    const bool* allowed;
    const int *out, *into;
    const double *step, *base, *alone, *past, *tie;
    StepModel model;
    bool linked;

    // The edge from i to j where that may be a link, else -1.
    __device__ __forceinline__ int candidate(int i, int j) const {
        const int e = edge_between(indptr, head, i, j);
        return e >= 0 && allowed[e] ? e : -1;
    }
};

extern "C" __global__ void links_laid(
    int links, const int64* indptr, const int* head, const int* source, const int* target, int* out, int* into
) {
    const int k = global_thread();
    if (k >= links) return;
    out[source[k]] = into[target[k]] = edge_between(indptr, head, source[k], target[k]);
}

// The likelihood of the links a and b between g and h, against leaving all detections unlinked; -1 is no link.
// Not inlined: eight copies take NVRTC four times as long.
__device__ __noinline__ double likelihood_of(const Chains& c, int g, int a, int b, int h) {
    const double keeps = c.model.turn(0), switches = c.model.turn(1), afresh = c.model.turn(2);
    double likelihood = 1.0, belief[CLASSES], then[CLASSES];
    for (int k = 0; k < CLASSES; k++) belief[k] = g >= 0 ? c.past[CLASSES * (int64)g + k] : 0.0;
    int64 before = g;
    const int chain[3] = {a, b, h};
    for (int place = 0; place < 3; place++) {
        const int64 e = chain[place];
        if (e < 0) continue;
        double total = 0.0;
        for (int k = 0; k < CLASSES; k++) {
            then[k] = c.alone[CLASSES * e + k];
            if (before >= 0 && c.linked) {
                const double density =
                    c.model.density(k, c.lag[before] - 1, c.lag[e] - 1, c.step + NDIM * e, c.step + NDIM * before);
                then[k] = (switches * c.model.share(k) + keeps * belief[k]) * density + afresh * then[k];
            }
            total += then[k];
        }
        for (int k = 0; k < CLASSES; k++) belief[k] = then[k] / total;
        likelihood *= total;
        if (place < 2) likelihood *= c.base[e];
        if (before >= 0) likelihood *= c.tie[c.head[before]];
        before = e;
    }
    return likelihood;
}

__device__ void undo(const Chains& c, int e, double ratio, uint64* odds) {
    if (e >= 0) atomicAdd(&odds[c.tail[e]], (uint64)(fmin(ratio, MOST) * ONE + 0.5));
}

// Exchanges of j for another detection of its frame, or none; one of two inside chains is looked at from the first.
__device__ void exchanges(const Chains& c, int j, uint64* odds) {
    const int a = c.into[j], b = c.out[j];
    if (a < 0 || b < 0) return;
    const int i = c.tail[a], k = c.head[b], g = c.into[i], h = c.out[k];
    double now = -1.0;
    for (int64 edge = c.indptr[i]; edge < c.indptr[i + 1]; edge++) {
        const int a_new = (int)edge, other = c.head[edge];
        const bool skips = other == k;
        if (a_new == a || !c.allowed[a_new] || (!skips && c.lag[a_new] != c.lag[a])) continue;
        const int a2 = skips ? -1 : c.into[other], b2 = skips ? -1 : c.out[other];
        if (a2 >= 0 && b2 >= 0 && other < j) continue;
        const int b_new = skips ? -1 : c.candidate(other, k);
        if (b_new < 0 && !skips) continue;
        if (now < 0.0) now = likelihood_of(c, g, a, b, h);
        double ratio = likelihood_of(c, g, a_new, b_new, h) / now;
        if (ratio < LEAST) continue;
        const int a2_new = a2 >= 0 ? c.candidate(c.tail[a2], j) : -1, b2_new = b2 >= 0 ? c.candidate(j, c.head[b2]) : -1;
        if ((a2 >= 0 && a2_new < 0) || (b2 >= 0 && b2_new < 0)) continue;
        const int g2 = a2 >= 0 ? c.into[c.tail[a2]] : -1, h2 = b2 >= 0 ? c.out[c.head[b2]] : -1;
        ratio *= likelihood_of(c, g2, a2_new, b2_new, h2) / likelihood_of(c, g2, a2, b2, h2);
        undo(c, a, ratio, odds), undo(c, b, ratio, odds), undo(c, a2, ratio, odds), undo(c, b2, ratio, odds);
    }
}

// The odds of the track of a detection going on without it: 1 where it is in none, 0 where none can.
__device__ double without(const Chains& c, int j) {
    const int a = c.into[j], b = c.out[j];
    if (a < 0 && b < 0) return 1.0;
    const int g = a >= 0 ? c.into[c.tail[a]] : -1, h = b >= 0 ? c.out[c.head[b]] : -1;
    const int over = a >= 0 && b >= 0 ? c.candidate(c.tail[a], c.head[b]) : -1;
    if (over < 0 && a >= 0 && b >= 0) return 0.0;
    return likelihood_of(c, over >= 0 ? g : -1, over, -1, h) / likelihood_of(c, g, a, b, h);
}

// The track of i with a detection that the link out of it passes over.
__device__ void passed_over(const Chains& c, int i, uint64* odds) {
    const int b = c.out[i];
    if (b < 0 || c.lag[b] == 1) return;
    const int g = c.into[i], k = c.head[b], h = c.out[k];
    for (int64 edge = c.indptr[i]; edge < c.indptr[i + 1]; edge++) {
        const int a_new = (int)edge, j = c.head[edge];
        if (c.lag[a_new] >= c.lag[b] || !c.allowed[a_new]) continue;
        const int b_new = c.candidate(j, k);
        if (b_new < 0) continue;
        double ratio = without(c, j);
        if (ratio < LEAST) continue;
        ratio *= likelihood_of(c, g, a_new, b_new, h) / likelihood_of(c, g, b, -1, h);
        if (ratio >= LEAST) undo(c, b, ratio, odds), undo(c, c.into[j], ratio, odds), undo(c, c.out[j], ratio, odds);
    }
}

extern "C" __global__ void exchanged(
    int n, const int64* indptr, const int* tail, const int* head, const int* lag, const bool* allowed, const int* out,
    const int* into, const double* step, const double* base, const double* alone, const double* past,
    const double* tie, const double* tables, int lags, int linked, uint64* odds
) {
    const int j = global_thread();
    if (j >= n) return;
    const Chains c{indptr, tail, head, lag, allowed, out, into, step, base, alone, past, tie, StepModel{tables, lags}, linked != 0};
    exchanges(c, j, odds);
    passed_over(c, j, odds);
}
