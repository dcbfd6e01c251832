// The step model, as in step_model.py: its tables, one after the other, for NDIM axes and CLASSES classes.
#pragma once
#include "device/common.cuh"

#ifndef NDIM
#define NDIM 2
#endif
#ifndef CLASSES
#define CLASSES 2
#endif

// The fields of step_model.Tables one after the other.
struct StepModel {
    const double* at;
    int lags;

    __device__ __forceinline__ double share(int k) const { return at[k]; }
    __device__ __forceinline__ double turn(int kind) const { return at[CLASSES + kind]; }
    __device__ __forceinline__ const double* slope(int k, int d) const { return at + CLASSES + 3 + (k * lags + d) * NDIM; }
    __device__ __forceinline__ const double* first_precision(int k, int d) const {
        return at + CLASSES + 3 + CLASSES * lags * NDIM + (k * lags + d) * NDIM;
    }
    __device__ __forceinline__ double first_norm(int k, int d) const {
        return at[CLASSES + 3 + CLASSES * lags * 2 * NDIM + k * lags + d];
    }
    __device__ __forceinline__ const double* second_precision(int k, int before, int d) const {
        return at + CLASSES + 3 + CLASSES * lags * (1 + 2 * NDIM) + ((k * lags + before) * lags + d) * NDIM;
    }
    __device__ __forceinline__ double second_norm(int k, int before, int d) const {
        return at[CLASSES + 3 + CLASSES * lags * (1 + 2 * NDIM + NDIM * lags) + (k * lags + before) * lags + d];
    }

    // Density of a displacement after another, over d + 1 frames after one over before + 1, in class k.
    __device__ __forceinline__ double density(int k, int before, int d, const double* later, const double* earlier) const {
        const double *pull = slope(k, d), *precision = second_precision(k, before, d);
        double q = 0.0;
        for (int axis = 0; axis < NDIM; axis++) {
            const double r = later[axis] - pull[axis] / (before + 1) * earlier[axis];
            q += r * r * precision[axis];
        }
        return exp(second_norm(k, before, d) - 0.5 * q);
    }
};
