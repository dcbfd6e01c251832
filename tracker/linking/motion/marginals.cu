// Belief propagation, as in marginals.py: a thread a detection, over the edges out of it or those into it.
//
//   asked        what the edges of rows bring to their columns
//   answered     what columns answer, and by how much an answer of each thread changed at most
//   concluded    the probability of each edge
//   shared_out   odds to probabilities among the edges of one head, and among those of one tail
//
// Bytes: 24 an edge asked, 28 answered, the second time from cache. Rows are as short as detections have candidates, so that
// threads beside each other read what lies side by side. No two threads write one place.
#include "device/common.cuh"

struct Terms {
    double rest, largest;

    // One, for staying alone, and all terms but for the largest, which is never taken off again.
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

extern "C" __global__ void asked(
    int n, const int64* indptr, const double* odds, const double* message, double* arriving
) {
    const int i = global_thread();
    if (i >= n) return;
    const Terms terms = terms_of(indptr[i], indptr[i + 1], odds, message);
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        arriving[e] = odds[e] / (terms.rest + (terms.largest - odds[e] * message[e]));
    }
}

// change: (threads,).
extern "C" __global__ void answered(
    int n, const int64* in_ptr, const int* in_edge, const double* arriving, double* message, double* change
) {
    double most = 0.0;
    for (int j = global_thread(); j < n; j += all_threads()) {
        Terms terms{1.0, 0.0};
        for (int64 at = in_ptr[j]; at < in_ptr[j + 1]; at++) terms.add(arriving[in_edge[at]]);
        for (int64 at = in_ptr[j]; at < in_ptr[j + 1]; at++) {
            const int e = in_edge[at];
            const double answer = 1.0 / (terms.rest + (terms.largest - arriving[e]));
            most = fmax(most, fabs(answer - message[e]));
            message[e] = answer;
        }
    }
    change[global_thread()] = most;
}

extern "C" __global__ void concluded(
    int n, const int64* indptr, const double* odds, const double* message, double* probability
) {
    const int i = global_thread();
    if (i >= n) return;
    const Terms terms = terms_of(indptr[i], indptr[i + 1], odds, message);
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) {
        probability[e] = odds[e] * message[e] / (terms.rest + terms.largest);
    }
}

extern "C" __global__ void shared_out(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, double* arriving, double* leaving
) {
    const int i = global_thread();
    if (i >= n) return;
    double came = 1.0, went = 1.0;
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) came += arriving[in_edge[at]];
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) arriving[in_edge[at]] /= came;
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) went += leaving[e];
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) leaving[e] /= went;
}
