"""Prints how many seconds the CUDA driver takes from being opened to a context.

It does nothing else, so that what is left of a cold process's time is the program's own.
It ends as redfox does, without taking the context apart: that is left to the system.
"""

import ctypes
import os
import time

start = time.perf_counter()
cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status != 0:
        raise SystemExit(f"driver_context.py: the driver returns {status}")


check(cuda.cuInit(0))
device, context = ctypes.c_int(), ctypes.c_void_p()
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))
print(time.perf_counter() - start, flush=True)
os._exit(0)
