#!/bin/sh
# Compiles gpu.cu with clang, as woven kernels are, to PTX that check.sh takes:
#
#   ptx.sh kernels.ptx && KERNELS=$PWD/kernels.ptx check.sh checks
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")"
exec "${CLANG:-clang-15}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx75 \
  -nocudainc -nocudalib -Wno-unknown-cuda-version -Wno-pass-failed -ffreestanding -std=c++17 -O3 -S gpu.cu -o "$out"
