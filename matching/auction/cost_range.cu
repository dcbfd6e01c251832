// How many pairs are allowed, and the sum, least and largest of their costs: what the first increment is made from.
//
// Each block reads every gridDim.x-th part of the costs and writes what it found; the host adds the few parts up. All
// sums are in an order of their own, so they are the same on every run.
//
// Bytes: the costs once. No two threads write the same place.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "problem/graph.cuh"

constexpr int THREADS = 256;

struct Range {
    double number, total, least, most;

    __device__ __forceinline__ void add(const Range& other) {
        number += other.number, total += other.total;
        least = fmin(least, other.least), most = fmax(most, other.most);
    }
};

// parts: (blocks,).
extern "C" __global__ void __launch_bounds__(THREADS) auction_cost_range(
    int64 n_costs, const cost_t* __restrict__ cost, const unsigned char* __restrict__ forbidden, Range* parts
) {
    __shared__ Range of_thread[THREADS];
    Range mine{0, 0, 1e308, -1e308};
    const int64 stride = (int64)gridDim.x * THREADS;
    for (int64 e = blockIdx.x * (int64)THREADS + threadIdx.x; e < n_costs; e += stride) {
        const dual_t c = (dual_t)cost[e];
        if (c < none() && (forbidden == nullptr || !forbidden[e])) mine.add(Range{1, (double)c, (double)c, (double)c});
    }
    of_thread[threadIdx.x] = mine;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) of_thread[threadIdx.x].add(of_thread[threadIdx.x + step]);
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = of_thread[0];
}
