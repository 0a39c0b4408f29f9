#!/bin/sh
# Compiles the service kernels to PTX: build.sh [folder], .. if not given.
#
# PTX 7.0 is the first for sm_80, which every driver that redfox works with reads.
# The result does not depend on where or when it is built.
set -eu
cd "$(dirname "$0")"
out=${1:-..}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for unit in service sort; do
  "${CLANG:-clang-15}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx70 \
    -nocudainc -nocudalib -Wno-unknown-cuda-version -Wall -Wextra -Werror -ffreestanding -std=c++17 -O3 \
    -S $unit.cu -o "$work/$unit.ptx"
  # Comments name blocks of LLVM and nothing that is of use here.
  sed -E -e 's#[[:blank:]]*//.*##' -e 's/[[:blank:]]+$//' -e '/^$/d' "$work/$unit.ptx" > "$out/$unit.ptx"
done
