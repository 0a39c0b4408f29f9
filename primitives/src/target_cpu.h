// The CPU target: a block is one worker, atomics are those of C11.

#pragma once

#define RF_PRIMITIVE extern "C" __attribute__((always_inline))
#define RF_HELPER static inline __attribute__((always_inline))
#define RF_LAMBDA __attribute__((always_inline))
#define RF_MEMBER __attribute__((always_inline))
#define RF_UNROLL
#define RF_ROLLED

namespace target {

enum { WARP = 1 };

RF_HELPER int32_t thread() { return 0; }
RF_HELPER void barrier() {}
RF_HELPER bool barrier_any(bool p) { return p; }
RF_HELPER int32_t barrier_count(bool p) { return p; }
RF_HELPER void warp_barrier() {}

RF_HELPER uint32_t shuffle(uint32_t v, int32_t) { return v; }
RF_HELPER uint32_t shuffle_up(uint32_t v, int32_t) { return v; }
RF_HELPER uint32_t shuffle_xor(uint32_t v, int32_t) { return v; }
RF_HELPER uint32_t match_any(uint32_t) { return 1; }
RF_HELPER uint32_t match_byte(uint32_t v) { return match_any(v & 255); }
RF_HELPER uint32_t byte(uint32_t v, int32_t number) { return v >> 8 * number & 255; }
RF_HELPER uint32_t match_any64(uint64_t) { return 1; }
RF_HELPER uint32_t ballot(bool p) { return p; }
RF_HELPER uint32_t either_lanes(uint32_t v) { return v; }
RF_HELPER uint32_t active() { return 1; }
RF_HELPER uint64_t from_active(uint32_t, uint64_t v, int32_t) { return v; }

template <class T> RF_HELPER T cas(T *p, T expected, T desired) {
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}
template <class T> RF_HELPER T add(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
RF_HELPER uint32_t fetch_add_shared_if(bool p, uint32_t *at, uint32_t v) { return p ? add(at, v) : 0; }
RF_HELPER void add_shared_if(bool p, uint32_t *at, uint32_t v) {
  if (p)
    add(at, v);
}
template <class T> RF_HELPER T either(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> RF_HELPER T load(const T *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
template <class T> RF_HELPER void store(T *p, T v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
RF_HELPER void fence() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

// Most candidates do not beat what is there, and then nothing is written.
template <class T> RF_HELPER T smallest(T *p, T v) {
  T old = load(p);
  while (v < old && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
template <class T> RF_HELPER T largest(T *p, T v) {
  T old = load(p);
  while (v > old && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

RF_HELPER void load8(const void *p, uint32_t *out) { __builtin_memcpy(out, __builtin_assume_aligned(p, 8), 8); }
RF_HELPER void load16(const void *p, uint32_t *out) { __builtin_memcpy(out, __builtin_assume_aligned(p, 16), 16); }
RF_HELPER void store8(void *p, const uint32_t *v) { __builtin_memcpy(__builtin_assume_aligned(p, 8), v, 8); }
RF_HELPER void store16(void *p, const uint32_t *v) { __builtin_memcpy(__builtin_assume_aligned(p, 16), v, 16); }

template <class T> RF_HELPER T load_if(const T *p, bool wanted) { return wanted ? *p : 0; }

template <class T> RF_HELPER T *global(T *p) { return p; }

RF_HELPER void prefetch(const void *p) { __builtin_prefetch(p); }

RF_HELPER void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

RF_HELPER void pause(uint32_t) { relax(); }

RF_HELPER uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t s) { return (uint32_t)(((uint64_t)hi << 32 | lo) >> s); }

RF_HELPER uint64_t multiply_high(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}

} // namespace target
