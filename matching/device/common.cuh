// What every kernel file may use: index types, warp and block steps, and the grid-wide barrier.
//
// No header of the CUDA toolkit is included here or anywhere in this folder (NVRTC then needs nothing but itself), so
// the barrier of cooperative_groups is written out. Blocks are one-dimensional throughout.
#pragma once

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned int uint32;

// Offsets into the edge array. Vertices are always int.
#ifdef INDEX64
typedef int64 offset_t;
#else
typedef int offset_t;
#endif

constexpr uint32 FULL_WARP = 0xffffffffu;
constexpr int NO_SINK = 0x7fffffff;  // of a tree or a row: above every column, so that `atomicMin` takes the first sink

__device__ __forceinline__ int global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int all_threads() { return gridDim.x * blockDim.x; }
__device__ __forceinline__ int lane() { return threadIdx.x & 31; }
__device__ __forceinline__ uint32 lanes_below() { return (1u << lane()) - 1u; }

// The same number in all lanes of a warp.
template <typename T>
__device__ __forceinline__ T sum_of_warp(T value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
}

__device__ __forceinline__ int sum_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_WARP, value);
#else
    return sum_of_warp<int>(value);
#endif
}

// Reads past the L1 cache, which other blocks' writes do not reach.
__device__ __forceinline__ int load_fresh(const int* address) {
    int value;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void store_fresh(int* address, int value) {
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ uint64 load_fresh(const uint64* address) {
    uint64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ int64 nanoseconds() {
    int64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// The next free place of a list, one atomic for the lanes that come here together.
__device__ __forceinline__ int next_place(int* count) {
    const uint32 together = __activemask();
    const int leader = __ffs(together) - 1;
    int first = 0;
    if (lane() == leader) first = atomicAdd(count, __popc(together));
    return __shfl_sync(together, first, leader) + __popc(together & lanes_below());
}

// A block's additions to a list in global memory, gathered in shared memory: one global atomic a block instead of one a
// warp (thousands at one address cost more than the rest of a small step). What does not fit goes straight to the list.
template <typename T, int CAPACITY>
struct Gathered {
    T items[CAPACITY];
    int n, first;

    __device__ __forceinline__ void add(const T& item, T* list, int* count) {
        const int place = next_place(&n);
        if (place < CAPACITY) {
            items[place] = item;
        } else {
            list[next_place(count)] = item;
        }
    }

    // All threads of the block; `n` is zero before the first addition and after this.
    __device__ __forceinline__ void flush(T* list, int* count) {
        __syncthreads();
        const int mine = min(n, CAPACITY);
        if (mine == 0) return;
        if (threadIdx.x == 0) first = atomicAdd(count, mine);
        __syncthreads();
        for (int i = threadIdx.x; i < mine; i += blockDim.x) list[first + i] = items[i];
        __syncthreads();
        if (threadIdx.x == 0) n = 0;
    }
};

// A barrier of all threads of a cooperative launch; what was written before is seen by all after.
// `arrived` starts at zero once and resets itself: its top bit flips when the last block comes (as cooperative_groups). That bit
// is asked for ahead, so that no block waits for an answer to its own arrival.
__device__ __forceinline__ void grid_barrier(uint32* arrived) {
    int before = 0;
    if (threadIdx.x == 0) before = load_fresh((const int*)arrived);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1u) : 1u);
        uint32 now;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        } while ((((uint32)before ^ now) & 0x80000000u) == 0u);
        __threadfence();
    }
    __syncthreads();
}
