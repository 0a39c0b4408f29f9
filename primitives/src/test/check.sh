#!/bin/sh
# Builds and runs check.cpp on the GPU of this machine, with nvcc:
#
#   check.sh [checks|bench|all]     or with a tool: TOOL="compute-sanitizer" check.sh checks
#
# KERNELS may name a PTX file or cubin, such as what clang makes of gpu.cu, to check
# in place of nvcc's.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
arch=${ARCH:-sm_90}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${KERNELS:-}" ]; then
  "$nvcc" -std=c++17 -O3 -arch="$arch" -cubin gpu.cu -o "$work/kernels.cubin"
  KERNELS=$work/kernels.cubin
fi
"$nvcc" -std=c++17 -O2 check.cpp -o "$work/check" -lcuda
${TOOL:-} "$work/check" "$KERNELS" "${1:-all}"
