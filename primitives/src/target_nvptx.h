// The GPU target through clang's own builtins, without the CUDA SDK.
//
// Pointers are generic; LLVM's InferAddressSpaces finds the shared and global
// ones once a primitive is inlined. Atomics are monotonic, which every LLVM from
// 15 on turns into one relaxed instruction: a stronger order would put fences
// around each from LLVM 20 on.

#pragma once

#define RF_PRIMITIVE extern "C" __attribute__((device, always_inline))
#define RF_HELPER static inline __attribute__((device, always_inline))
#define RF_LAMBDA __attribute__((always_inline))
#define RF_MEMBER __attribute__((device, always_inline))
#define RF_UNROLL _Pragma("clang loop unroll(full)")
#define RF_ROLLED _Pragma("clang loop unroll(disable)")

namespace target {

enum { WARP = 32 };

RF_HELPER int32_t thread() { return __nvvm_read_ptx_sreg_tid_x(); }
RF_HELPER void barrier() { __syncthreads(); }
RF_HELPER bool barrier_any(bool p) { return __nvvm_bar0_or(p) != 0; }
RF_HELPER int32_t barrier_count(bool p) { return __nvvm_bar0_popc(p); }
RF_HELPER void warp_barrier() { __nvvm_bar_warp_sync(~0u); }

RF_HELPER uint32_t shuffle(uint32_t v, int32_t lane) { return __nvvm_shfl_sync_idx_i32(~0u, v, lane, 31); }
RF_HELPER uint32_t shuffle_up(uint32_t v, int32_t delta) { return __nvvm_shfl_sync_up_i32(~0u, v, delta, 0); }
RF_HELPER uint32_t shuffle_xor(uint32_t v, int32_t mask) { return __nvvm_shfl_sync_bfly_i32(~0u, v, mask, 31); }
RF_HELPER uint32_t match_any(uint32_t v) { return __nvvm_match_any_sync_i32(~0u, v); }
RF_HELPER uint32_t match_any64(uint64_t v) { return __nvvm_match_any_sync_i64(~0u, v); }
RF_HELPER uint32_t ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
RF_HELPER uint32_t either_lanes(uint32_t v) {
  uint32_t all;
  __asm__ volatile("redux.sync.or.b32 %0, %1, -1;" : "=r"(all) : "r"(v));
  return all;
}
// match_any takes as long as there are different values, ballots always the same.
RF_HELPER uint32_t match_byte(uint32_t v) {
  uint32_t all = ~0u;
  RF_UNROLL
  for (int32_t bit = 1; bit < 256; bit *= 2) {
    uint32_t lanes;
    __asm__ volatile("{ .reg .pred p; and.b32 %0, %1, %2; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, -1; @!p not.b32 %0, %0; }"
                     : "=&r"(lanes)
                     : "r"(v), "r"(bit));
    all &= lanes;
  }
  return all;
}
RF_HELPER uint32_t byte(uint32_t v, int32_t number) {
  uint32_t b;
  __asm__("prmt.b32 %0, %1, 0, %2;" : "=r"(b) : "r"(v), "r"(0x4440 + number));
  return b;
}
RF_HELPER uint32_t active() {
  uint32_t mask;
  __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
RF_HELPER uint64_t from_active(uint32_t mask, uint64_t v, int32_t lane) {
  uint32_t lo = __nvvm_shfl_sync_idx_i32(mask, (uint32_t)v, lane, 31);
  uint32_t hi = __nvvm_shfl_sync_idx_i32(mask, (uint32_t)(v >> 32), lane, 31);
  return (uint64_t)hi << 32 | lo;
}

template <class T> RF_HELPER T cas(T *p, T expected, T desired) {
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T> RF_HELPER T add(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }

// LLVM makes a branch of an atomic under a condition, and the assembler keeps it.
typedef __attribute__((address_space(3))) uint32_t *shared32;
RF_HELPER uint32_t fetch_add_shared_if(bool p, uint32_t *at, uint32_t v) {
  uint32_t old;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.u32 %0, 0; @p atom.shared.add.u32 %0, [%2], %3; }"
                   : "=&r"(old)
                   : "r"((uint32_t)p), "l"((shared32)at), "r"(v)
                   : "memory");
  return old;
}
RF_HELPER void add_shared_if(bool p, uint32_t *at, uint32_t v) {
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p red.shared.add.u32 [%1], %2; }"
                   :
                   : "r"((uint32_t)p), "l"((shared32)at), "r"(v)
                   : "memory");
}

template <class T> RF_HELPER T either(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> RF_HELPER T smallest(T *p, T v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); }
template <class T> RF_HELPER T largest(T *p, T v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); }
template <class T> RF_HELPER T load(const T *p) { return *(const volatile T *)p; }
template <class T> RF_HELPER void store(T *p, T v) { *(volatile T *)p = v; }
RF_HELPER void fence() { __nvvm_membar_gl(); }

typedef uint32_t words2 __attribute__((ext_vector_type(2)));
typedef uint32_t words4 __attribute__((ext_vector_type(4)));

RF_HELPER void load8(const void *p, uint32_t *out) {
  words2 v = *(const words2 *)p;
  out[0] = v.x, out[1] = v.y;
}
RF_HELPER void load16(const void *p, uint32_t *out) {
  words4 v = *(const words4 *)p;
  out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}
RF_HELPER void store8(void *p, const uint32_t *v) {
  words2 w = {v[0], v[1]};
  *(words2 *)p = w;
}
RF_HELPER void store16(void *p, const uint32_t *v) {
  words4 w = {v[0], v[1], v[2], v[3]};
  *(words4 *)p = w;
}

// load_if reads by one predicated instruction, where a branch would keep the loads of
// several items apart.
#define RF_LOAD_IF(type, word, constraint, move, kind)                                                                 \
  RF_HELPER type load_if(const type *p, bool wanted) {                                                                 \
    word v;                                                                                                            \
    __asm__("{\n\t.reg .pred %%p;\n\tsetp.ne.u32 %%p, %2, 0;\n\t" move " %0, 0;\n\t@%%p ld.global." kind               \
            " %0, [%1];\n\t}"                                                                                          \
            : constraint(v)                                                                                            \
            : "l"((const __attribute__((address_space(1))) type *)p), "r"((uint32_t)wanted));                          \
    return (type)v;                                                                                                    \
  }
RF_LOAD_IF(uint8_t, uint32_t, "=&r", "mov.b32", "u8")
RF_LOAD_IF(uint16_t, uint32_t, "=&r", "mov.b32", "u16")
RF_LOAD_IF(uint32_t, uint32_t, "=&r", "mov.b32", "u32")
RF_LOAD_IF(uint64_t, uint64_t, "=&l", "mov.b64", "u64")
#undef RF_LOAD_IF

template <class T> RF_HELPER T *global(T *p) { return (T *)(__attribute__((address_space(1))) T *)p; }

// Many warps hide the latency here; a hint would only cost an instruction.
RF_HELPER void prefetch(const void *) {}
RF_HELPER void relax() {}
RF_HELPER void pause(uint32_t ns) { __asm__ volatile("nanosleep.u32 %0;" : : "r"(ns)); }

RF_HELPER uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t s) {
  uint32_t v;
  __asm__("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(lo), "r"(hi), "r"(s));
  return v;
}

RF_HELPER uint64_t multiply_high(uint64_t a, uint64_t b) { return __nvvm_mulhi_ull(a, b); }

} // namespace target
