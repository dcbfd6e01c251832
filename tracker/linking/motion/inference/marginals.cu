// Belief propagation, as in marginals.py: a thread a detection, over the edges out of it or those into it.
//
//   asked        what the edges of rows bring to their columns
//   answered     what columns answer, and whether an answer changed by more than is tolerated
//   concluded    the probability of each edge
//   shared_out   odds to probabilities among the edges of one head, and among those of one tail
//
// Which round is the last is known on the device alone: rounds after it return at once, and nothing waits for a number.
// Bytes: 24 an edge asked, 28 answered, 32 concluded, 72 shared out, the second time from cache. Rows are as short as detections
// have candidates, so that threads beside each other read what lies side by side. Edges of a head lie apart: a few at a time are
// read before any of them is written, as a read from L1 after each write takes eight times as long. No two threads write one
// place, but for `moved`, where all write 1.
#include "device/common.cuh"

struct Terms {
    double rest, largest;

    // One, for staying unlinked, and all terms but for the largest, which is never taken off again.
    __device__ __forceinline__ void add(double term) {
        rest += fmin(term, largest);
        largest = fmax(term, largest);
    }
};

__device__ __forceinline__ Terms terms_of(int64 from, int64 to, const double* odds, const double* message) {
    Terms terms{1.0, 0.0};
    for (int64 e = from; e < to; e++) terms.add(odds[e] * message[e]);
    return terms;
}

// Whether all rounds before are needed. moved: (rounds,) whether an answer of each round changed by more than is tolerated.
__device__ __forceinline__ bool goes_on(int round, const int* moved) { return round == 0 || moved[round - 1] != 0; }

constexpr int AT_A_TIME = 4;

// Replace a value of each edge into a head by change(edge).
template <typename Change>
__device__ __forceinline__ void replace_each(int64 from, int64 to, const int* in_edge, double* value, Change change) {
    for (; from < to; from += AT_A_TIME) {
        int edge[AT_A_TIME];
        double now[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            if (from + k < to) edge[k] = in_edge[from + k], now[k] = change(edge[k]);
        }
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            if (from + k < to) value[edge[k]] = now[k];
        }
    }
}

extern "C" __global__ void asked(
    int n, const int64* indptr, const double* odds, const double* message, int round, const int* moved, double* arriving
) {
    const int i = global_thread();
    if (i >= n || !goes_on(round, moved)) return;
    const Terms terms = terms_of(indptr[i], indptr[i + 1], odds, message);
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        arriving[e] = odds[e] / (terms.rest + (terms.largest - odds[e] * message[e]));
    }
}

// moved: zeros to begin with.
extern "C" __global__ void answered(
    int n, const int64* in_ptr, const int* in_edge, const double* arriving, int round, double tolerance, double* message,
    int* moved
) {
    if (!goes_on(round, moved)) return;
    const int j = global_thread();
    double most = 0.0;
    if (j < n) {
        Terms terms{1.0, 0.0};
        for (int64 at = in_ptr[j]; at < in_ptr[j + 1]; at++) terms.add(arriving[in_edge[at]]);
        replace_each(in_ptr[j], in_ptr[j + 1], in_edge, message, [&](int e) {
            const double answer = 1.0 / (terms.rest + (terms.largest - arriving[e]));
            most = fmax(most, fabs(answer - message[e]));
            return answer;
        });
    }
    if (__syncthreads_or(most >= tolerance) && threadIdx.x == 0) moved[round] = 1;
}

// A new value, and the old one as far as changes are damped.
__device__ __forceinline__ double damped(double now, double before, double damping) {
    return damping > 0.0 ? now * (1.0 - damping) + damping * before : now;
}

extern "C" __global__ void concluded(
    int n, const int64* indptr, const double* odds, const double* message, const double* before, double damping,
    double* probability
) {
    const int i = global_thread();
    if (i >= n) return;
    const Terms terms = terms_of(indptr[i], indptr[i + 1], odds, message);
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        const double now = odds[e] * message[e] / (terms.rest + terms.largest);
        probability[e] = damped(now, before[e], damping);
    }
}

// arriving and leaving come as odds, each to be multiplied by the array after it, and go as probabilities.
extern "C" __global__ void shared_out(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, double* arriving, const double* by_arriving,
    double* leaving, const double* by_leaving, const double* into, const double* out_of, double damping
) {
    const int i = global_thread();
    if (i >= n) return;
    double came = 1.0, went = 1.0;
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) came += arriving[in_edge[at]] * by_arriving[in_edge[at]];
    replace_each(in_ptr[i], in_ptr[i + 1], in_edge, arriving, [&](int e) {
        return damped(arriving[e] * by_arriving[e] / came, into[e], damping);
    });
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) went += leaving[e] * by_leaving[e];
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        leaving[e] = damped(leaving[e] * by_leaving[e] / went, out_of[e], damping);
    }
}
