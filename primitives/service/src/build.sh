#!/bin/sh
# Compiles the service kernels to PTX and machine code: build.sh [folder], .. if not given.
#
# PTX 7.0 is the first for sm_80, which every driver that redfox works with reads.
# Machine code for sm_80 runs on every GPU of that generation (8.x), so does that for sm_90.
# The result does not depend on where or when it is built; machine code, which is left as it
# is where there is no ptxas (PATH or REDFOX_PTXAS), depends on the version of that.
set -eu
cd "$(dirname "$0")"
out=${1:-..}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for unit in service sort pages; do
  "${CLANG:-clang-15}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx70 \
    -nocudainc -nocudalib -Wno-unknown-cuda-version -Wall -Wextra -Werror -ffreestanding -std=c++17 -O3 \
    -S $unit.cu -o "$work/$unit.ptx"
  # Comments name blocks of LLVM and nothing that is of use here.
  sed -E -e 's#[[:blank:]]*//.*##' -e 's/[[:blank:]]+$//' -e '/^$/d' "$work/$unit.ptx" > "$out/$unit.ptx"
done

ptxas=${REDFOX_PTXAS:-ptxas}
command -v "$ptxas" > /dev/null || exit 0
cd "$out"
for unit in service sort pages; do
  for sm in 80 90; do
    "$ptxas" -arch sm_$sm $unit.ptx -o "$work/$unit.cubin"
    gzip -9 -n -c "$work/$unit.cubin" > $unit.sm_$sm.cubin.gz
  done
done
{
  "$ptxas" --version | tail -n 1
  sha256sum service.ptx sort.ptx pages.ptx
} > cubin.txt
