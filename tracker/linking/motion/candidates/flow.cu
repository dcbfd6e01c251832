// The neighbours' flow, as in flow.py.
//
//   means       the probable displacement of each detection's links out of it and into it; a thread a detection
//   fields      the neighbours' mean of either, outliers weighing less; a thread a detection
//   along       the flow along each edge, by what supports it at both its ends; a thread an edge
//
// No two threads write one place.
// variant: -DNDIM=3
#include "device/common.cuh"

#ifndef NDIM
#define NDIM 2
#endif
constexpr double LEAST_SUPPORT = 0.05;  // support of a neighbour from which it counts

// mean: (n, NDIM), weight: (n,) of the links out, then those into.
extern "C" __global__ void means(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, const int* lag, const double* step,
    const double* probability, double* out, double* out_weight, double* into, double* into_weight
) {
    const int i = global_thread();
    if (i >= n) return;
    double leaving[NDIM] = {}, arriving[NDIM] = {}, left = 0.0, arrived = 0.0;
    const auto add = [&](int64 e, double* total, double& weight) {
        if (lag[e] != 1 || probability[e] < 1e-3) return;
        for (int axis = 0; axis < NDIM; axis++) total[axis] += probability[e] * step[NDIM * e + axis];
        weight += probability[e];
    };
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) add(e, leaving, left);
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) add(in_edge[at], arriving, arrived);
    for (int axis = 0; axis < NDIM; axis++) {
        out[(int64)NDIM * i + axis] = leaving[axis] / fmax(left, 1e-9);
        into[(int64)NDIM * i + axis] = arriving[axis] / fmax(arrived, 1e-9);
    }
    out_weight[i] = left, into_weight[i] = arrived;
}

// near: (n, n_near), -1 for none. field: (n, NDIM), support: (n,).
extern "C" __global__ void fields(
    int n, int n_near, const int* near, const double* mean, const double* weight, double* field, double* support
) {
    const int i = global_thread();
    if (i >= n) return;
    const int* own = near + (int64)n_near * i;
    double centre[NDIM] = {}, spread = 0.0, backing = 0.0;
    const auto distance2 = [&](int64 j) {
        double r2 = 0.0;
        for (int axis = 0; axis < NDIM; axis++) {
            const double away = mean[NDIM * j + axis] - centre[axis];
            r2 += away * away;
        }
        return r2;
    };
    for (int round = 0; round < 3; round++) {
        double total = 0.0, squares = 0.0, plain = 0.0, sum[NDIM] = {};
        for (int k = 0; k < n_near; k++) {
            const int j = own[k];
            if (j < 0 || weight[j] < LEAST_SUPPORT) continue;
            const double r2 = distance2(j), w = weight[j] * weight[j] / (1.0 + (round > 0 ? r2 / spread : 0.0));
            total += w, plain += weight[j], squares += w * r2;
            for (int axis = 0; axis < NDIM; axis++) sum[axis] += w * mean[(int64)NDIM * j + axis];
        }
        if (total <= 0.0) break;
        for (int axis = 0; axis < NDIM; axis++) centre[axis] = sum[axis] / total;
        if (round == 0) {
            squares = 0.0;
            for (int k = 0; k < n_near; k++) {
                const int j = own[k];
                if (j >= 0 && weight[j] >= LEAST_SUPPORT) squares += weight[j] * weight[j] * distance2(j);
            }
        }
        spread = fmax(squares / total, 1e-12);
        backing = plain;
    }
    for (int axis = 0; axis < NDIM; axis++) field[(int64)NDIM * i + axis] = backing > 0.0 ? centre[axis] : 0.0;
    support[i] = backing;
}

// half: probable neighbours' links at which their mean is believed by half. out: (edges, NDIM).
extern "C" __global__ void along(
    int64 edges, const int* tail, const int* head, const int* lag, const double* ahead, const double* ahead_weight,
    const double* behind, const double* behind_weight, double half, double* out
) {
    for (int64 e = global_thread(); e < edges; e += all_threads()) {
        const int64 i = tail[e], j = head[e];
        const double a = ahead_weight[i], b = behind_weight[j];
        for (int axis = 0; axis < NDIM; axis++) {
            const double mean = (a * ahead[NDIM * i + axis] + b * behind[NDIM * j + axis]) / (a + b + half);
            out[NDIM * e + axis] = lag[e] * mean;
        }
    }
}
