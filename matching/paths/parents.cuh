// What searches by rounds on a graph share (`paths/trees.cu`, `paths/graph_forest.cu`): distances that fall, and parents.
#pragma once
#include "problem/graph.cuh"

#ifndef LANES
#define LANES 8
#endif

// Distances are never negative, so their bits order like the numbers. Returns what was there before.
__device__ __forceinline__ dual_t lower(dual_t* address, dual_t value) {
    const int64 before = atomicMin((int64*)address, *(int64*)&value);
    return *(dual_t*)&before;
}
__device__ __forceinline__ void raise(dual_t* address, dual_t value) { atomicMax((int64*)address, *(int64*)&value); }

// Parents of later rounds are smaller, then smaller rows.
__device__ __forceinline__ uint64 parent_key(int round, int row) {
    return ((uint64)(0x7fffffff - round) << 32) | (uint32)row;
}
__device__ __forceinline__ int parent_row(uint64 key) { return (int)(uint32)key; }
__device__ __forceinline__ int parent_round(uint64 key) { return 0x7fffffff - (int)(key >> 32); }
