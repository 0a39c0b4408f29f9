// Memory and launches for check.cpp: through the CUDA driver, or on emulated
// blocks.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#if !defined(RF_EMULATED)
#include <cuda.h>

inline void must(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *text = "unknown error";
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(2);
}
#else
extern "C" int32_t rf_launch(const char *name, int32_t threads, int64_t first, int64_t stride, int64_t blocks,
                             uint64_t order, const uint64_t *arguments);
#endif

// Memory is device memory, freed with the last Buffer that shares it.
struct Memory {
  uint64_t address = 0;
  size_t size;

  // Loads of tiles read up to the next multiple of 32 bytes.
  explicit Memory(size_t bytes) : size(bytes ? (bytes + 31) / 32 * 32 : 32) {
#if defined(RF_EMULATED)
    address = (uint64_t)(uintptr_t)calloc(1, size);
#else
    CUdeviceptr p;
    must(cuMemAlloc(&p, size), "cuMemAlloc");
    address = p;
    clear();
#endif
  }
  Memory(const Memory &) = delete;
  ~Memory() {
#if defined(RF_EMULATED)
    free((void *)(uintptr_t)address);
#else
    cuMemFree(address);
#endif
  }
  void clear() const {
#if defined(RF_EMULATED)
    memset((void *)(uintptr_t)address, 0, size);
#else
    must(cuMemsetD8(address, 0, size), "cuMemsetD8");
#endif
  }
  void write(const void *from, size_t bytes) const {
#if defined(RF_EMULATED)
    memcpy((void *)(uintptr_t)address, from, bytes);
#else
    must(cuMemcpyHtoD(address, from, bytes), "cuMemcpyHtoD");
#endif
  }
  void read(void *to, size_t bytes) const {
#if defined(RF_EMULATED)
    memcpy(to, (void *)(uintptr_t)address, bytes);
#else
    must(cuMemcpyDtoH(to, address, bytes), "cuMemcpyDtoH");
#endif
  }
};

template <class T> struct Buffer {
  std::shared_ptr<Memory> memory;
  size_t count;

  std::vector<T> get() const {
    std::vector<T> out(count);
    if (count)
      memory->read(out.data(), count * sizeof(T));
    return out;
  }
  void set(const std::vector<T> &v) const {
    if (!v.empty())
      memory->write(v.data(), v.size() * sizeof(T));
  }
};

// Argument is 64 bits, and keeps the memory that it points to.
struct Argument {
  uint64_t word;
  std::shared_ptr<Memory> memory;

  template <class T> Argument(const Buffer<T> &b) : word(b.memory->address), memory(b.memory) {}
  Argument(int v) : word((uint64_t)(int64_t)v) {}
  Argument(long v) : word((uint64_t)v) {}
  Argument(long long v) : word((uint64_t)v) {}
  Argument(unsigned long v) : word(v) {}
  Argument(unsigned long long v) : word(v) {}

  void clear() const { memory->clear(); }
};

struct Device {
#if !defined(RF_EMULATED)
  CUdevice device;
  CUcontext context;
  CUmodule module;
#endif

  explicit Device(const char *kernels) {
#if defined(RF_EMULATED)
    (void)kernels;
#else
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cuModuleLoad(&module, kernels), kernels);
#endif
  }

  // items is how many a thread of a block has; gpu.cu and host.cpp agree.
  int items(int threads) const {
#if defined(RF_EMULATED)
    return threads == 128 || threads == 1024 ? 4 : 16;
#else
    return threads == 1024 ? 4 : 16;
#endif
  }

  // large is a number of rows that keeps several blocks busy.
  int64_t large(int64_t tile) const {
#if defined(RF_EMULATED)
    return tile + 5;
#else
    return 37 * tile + 5;
#endif
  }

  int processors() const {
#if defined(RF_EMULATED)
    return 0;
#else
    int n = 0;
    must(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "cuDeviceGetAttribute");
    return n;
#endif
  }

  template <class T> Buffer<T> zeros(int64_t count) const {
    return Buffer<T>{std::make_shared<Memory>((size_t)count * sizeof(T)), (size_t)count};
  }
  template <class T> Buffer<T> copy(const std::vector<T> &v) const {
    Buffer<T> b = zeros<T>((int64_t)v.size());
    b.set(v);
    return b;
  }

  void launch(const char *kernel, int threads, int blocks, std::initializer_list<Argument> list) const {
    struct {
      uint64_t word[12];
    } arguments = {};
    int i = 0;
    for (const Argument &a : list)
      arguments.word[i++] = a.word;
#if defined(RF_EMULATED)
    if (!rf_launch(kernel, threads, 0, 1, blocks, 1, arguments.word)) {
      fprintf(stderr, "there is no kernel %s for %d threads\n", kernel, threads);
      exit(2);
    }
#else
    std::string name = std::string(kernel) + "_" + std::to_string(threads);
    CUfunction function;
    must(cuModuleGetFunction(&function, module, name.c_str()), name.c_str());
    void *parameters[] = {&arguments};
    must(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr), name.c_str());
    must(cuCtxSynchronize(), name.c_str());
#endif
  }

  // timed returns the seconds from the launch to the end of a kernel.
  double timed(const char *kernel, int threads, int blocks, std::initializer_list<Argument> list) const {
    auto start = std::chrono::steady_clock::now();
    launch(kernel, threads, blocks, list);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};
