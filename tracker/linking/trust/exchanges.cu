// Exchanges of a detection between two tracks, as in exchanges.py; a thread a detection.
//
//   links_laid  the edge of each link, by its tail and by its head
//   exchanged   the odds of all exchanges that undo each link, by its tail, in 2^-40ths: whole numbers add up alike in any order
// variant: -DNDIM=3 -DCLASSES=3
#include "../tracker/linking/motion/law.cuh"

constexpr double LEAST = 1e-12;  // odds of one chain after the exchange that no gain of the other makes up for
constexpr double ONE = 1099511627776.0, MOST = 1048576.0;

// Candidates and the links among them. out, into: (n,) edges, -1 where none is made.
struct Chains {
    const int64* indptr;
    const int *tail, *head, *lag, *out, *into;
    const double *step, *base, *alone, *past, *tie;
    Law law;
    bool linked;
};

__device__ __forceinline__ int edge_between(const int64* indptr, const int* head, int i, int j) {
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        if (head[e] == j) return (int)e;
    }
    return -1;
}

extern "C" __global__ void links_laid(
    int links, const int64* indptr, const int* head, const int* source, const int* target, int* out, int* into
) {
    const int k = global_thread();
    if (k >= links) return;
    out[source[k]] = into[target[k]] = edge_between(indptr, head, source[k], target[k]);
}

// The likelihood of the links a and b between g and h, against all detections alone; -1 is no link.
__device__ double likelihood_of(const Chains& c, int g, int a, int b, int h) {
    const double keeps = c.law.turn(0), switches = c.law.turn(1), afresh = c.law.turn(2);
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
                    c.law.density(k, c.lag[before] - 1, c.lag[e] - 1, c.step + NDIM * e, c.step + NDIM * before);
                then[k] = (switches * c.law.share(k) + keeps * belief[k]) * density + afresh * then[k];
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

extern "C" __global__ void exchanged(
    int n, const int64* indptr, const int* tail, const int* head, const int* lag, const bool* allowed, const int* out,
    const int* into, const double* step, const double* base, const double* alone, const double* past,
    const double* tie, const double* tables, int lags, int linked, uint64* odds
) {
    const int j = global_thread();
    if (j >= n) return;
    const int a = into[j], b = out[j];
    if (a < 0 || b < 0) return;
    const Chains c{indptr, tail, head, lag, out, into, step, base, alone, past, tie, Law{tables, lags}, linked != 0};
    const int i = tail[a], k = head[b], g = into[i], h = out[k];
    double now = -1.0;
    for (int64 edge = indptr[i]; edge < indptr[i + 1]; edge++) {
        const int a_new = (int)edge, other = head[edge];
        if (a_new == a || lag[a_new] != lag[a]) continue;
        const int a2 = into[other], b2 = out[other];
        if (a2 >= 0 && b2 >= 0 && other < j) continue;  // seen from the other
        const int b_new = edge_between(indptr, head, other, k);
        if (b_new < 0 || !allowed[a_new] || !allowed[b_new]) continue;
        if (now < 0.0) now = likelihood_of(c, g, a, b, h);
        double ratio = likelihood_of(c, g, a_new, b_new, h) / now;
        if (ratio < LEAST) continue;
        const int a2_new = a2 >= 0 ? edge_between(indptr, head, tail[a2], j) : -1;
        const int b2_new = b2 >= 0 ? edge_between(indptr, head, j, head[b2]) : -1;
        if (a2 >= 0 && (a2_new < 0 || !allowed[a2_new])) continue;
        if (b2 >= 0 && (b2_new < 0 || !allowed[b2_new])) continue;
        const int g2 = a2 >= 0 ? into[tail[a2]] : -1, h2 = b2 >= 0 ? out[head[b2]] : -1;
        ratio *= likelihood_of(c, g2, a2_new, b2_new, h2) / likelihood_of(c, g2, a2, b2, h2);
        const uint64 counted = (uint64)(fmin(ratio, MOST) * ONE + 0.5);
        atomicAdd(&odds[i], counted), atomicAdd(&odds[j], counted);
        if (a2 >= 0) atomicAdd(&odds[tail[a2]], counted);
        if (b2 >= 0) atomicAdd(&odds[other], counted);
    }
}
