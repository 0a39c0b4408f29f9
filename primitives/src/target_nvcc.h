// The GPU target through nvcc, for the check program: the same primitives under
// NVIDIA's own compiler and its tools.

#pragma once

#define RF_PRIMITIVE extern "C" __device__ __forceinline__
#define RF_HELPER static __device__ __forceinline__
#define RF_LAMBDA
#define RF_MEMBER __device__ __forceinline__
#define RF_UNROLL _Pragma("unroll")
#define RF_ROLLED _Pragma("unroll 1")

#define __builtin_ctz(v) (__ffs((int)(v)) - 1)
#define __builtin_popcount(v) __popc(v)
#define __builtin_popcountll(v) __popcll(v)
#define __builtin_clzll(v) __clzll((long long)(v))

namespace target {

enum { WARP = 32 };

RF_HELPER int32_t thread() { return threadIdx.x; }
RF_HELPER void barrier() { __syncthreads(); }
RF_HELPER bool barrier_any(bool p) { return __syncthreads_or(p) != 0; }
RF_HELPER int32_t barrier_count(bool p) { return __syncthreads_count(p); }
RF_HELPER void warp_barrier() { __syncwarp(); }

RF_HELPER uint32_t shuffle(uint32_t v, int32_t lane) { return __shfl_sync(~0u, v, lane); }
RF_HELPER uint32_t shuffle_up(uint32_t v, int32_t delta) { return __shfl_up_sync(~0u, v, delta); }
RF_HELPER uint32_t shuffle_xor(uint32_t v, int32_t mask) { return __shfl_xor_sync(~0u, v, mask); }
RF_HELPER uint32_t match_any(uint32_t v) { return __match_any_sync(~0u, v); }
RF_HELPER uint32_t match_byte(uint32_t v) { return match_any(v & 255); }
RF_HELPER uint32_t byte(uint32_t v, int32_t number) { return v >> 8 * number & 255; }
RF_HELPER uint32_t match_any64(uint64_t v) { return __match_any_sync(~0u, (unsigned long long)v); }
RF_HELPER uint32_t ballot(bool p) { return __ballot_sync(~0u, p); }
RF_HELPER uint32_t either_lanes(uint32_t v) { return __reduce_or_sync(~0u, v); }
RF_HELPER uint32_t active() { return __activemask(); }
RF_HELPER uint64_t from_active(uint32_t mask, uint64_t v, int32_t lane) {
  return __shfl_sync(mask, (unsigned long long)v, lane);
}

// CUDA's atomics know unsigned long long, not uint64_t where that is a long.
RF_HELPER uint64_t cas(uint64_t *p, uint64_t expected, uint64_t desired) {
  return atomicCAS((unsigned long long *)p, (unsigned long long)expected, (unsigned long long)desired);
}
RF_HELPER uint32_t cas(uint32_t *p, uint32_t expected, uint32_t desired) { return atomicCAS(p, expected, desired); }
RF_HELPER uint64_t add(uint64_t *p, uint64_t v) { return atomicAdd((unsigned long long *)p, (unsigned long long)v); }
RF_HELPER uint32_t add(uint32_t *p, uint32_t v) { return atomicAdd(p, v); }
RF_HELPER uint32_t fetch_add_shared_if(bool p, uint32_t *at, uint32_t v) { return p ? add(at, v) : 0; }
RF_HELPER void add_shared_if(bool p, uint32_t *at, uint32_t v) {
  if (p)
    add(at, v);
}
RF_HELPER uint64_t either(uint64_t *p, uint64_t v) { return atomicOr((unsigned long long *)p, (unsigned long long)v); }
RF_HELPER uint32_t either(uint32_t *p, uint32_t v) { return atomicOr(p, v); }
RF_HELPER int64_t smallest(int64_t *p, int64_t v) { return atomicMin((long long *)p, (long long)v); }
RF_HELPER int64_t largest(int64_t *p, int64_t v) { return atomicMax((long long *)p, (long long)v); }
RF_HELPER uint64_t smallest(uint64_t *p, uint64_t v) {
  return atomicMin((unsigned long long *)p, (unsigned long long)v);
}
RF_HELPER uint64_t largest(uint64_t *p, uint64_t v) {
  return atomicMax((unsigned long long *)p, (unsigned long long)v);
}
RF_HELPER uint32_t largest(uint32_t *p, uint32_t v) { return atomicMax(p, v); }
template <class T> RF_HELPER T load(const T *p) { return *(const volatile T *)p; }
template <class T> RF_HELPER void store(T *p, T v) { *(volatile T *)p = v; }
RF_HELPER void fence() { __threadfence(); }

RF_HELPER void load8(const void *p, uint32_t *out) {
  uint2 v = *(const uint2 *)p;
  out[0] = v.x, out[1] = v.y;
}
RF_HELPER void load16(const void *p, uint32_t *out) {
  uint4 v = *(const uint4 *)p;
  out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}
RF_HELPER void store8(void *p, const uint32_t *v) { *(uint2 *)p = make_uint2(v[0], v[1]); }
RF_HELPER void store16(void *p, const uint32_t *v) { *(uint4 *)p = make_uint4(v[0], v[1], v[2], v[3]); }

template <class T> RF_HELPER T load_if(const T *p, bool wanted) { return wanted ? *p : 0; }

template <class T> RF_HELPER T *global(T *p) {
  __builtin_assume(__isGlobal(p));
  return p;
}

RF_HELPER void prefetch(const void *) {}
RF_HELPER void relax() {}
RF_HELPER void pause(uint32_t ns) { __nanosleep(ns); }

RF_HELPER uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t s) { return __funnelshift_r(lo, hi, s); }

RF_HELPER uint64_t multiply_high(uint64_t a, uint64_t b) { return __umul64hi(a, b); }

} // namespace target
