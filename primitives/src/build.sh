#!/bin/sh
# Compiles the primitives to bitcode: build.sh [folder], ../bitcode if not given.
#
# The bitcode is tidied, with all helpers inlined, but its loops are as written: a
# primitive is worth optimising only where its tile shape is known, after it was
# inlined itself. Functions become linkonce_odr, so that
# a link takes those that are called and drops them once they are inlined. What
# names a processor is removed, since the code that calls decides on that. The
# result does not depend on where or when it is built.
set -eu
cd "$(dirname "$0")"
out=${1:-../bitcode}
clang=${CLANG:-clang-15}
opt=${OPT:-opt-15}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags="-ffreestanding -fno-exceptions -fno-asynchronous-unwind-tables -fomit-frame-pointer
  -std=c++17 -O2 -Xclang -disable-llvm-passes -fno-ident -Wall -Wextra -Werror"

tidy='always-inline,globaldce,function(sroa,early-cse,simplifycfg,instcombine,simplifycfg),strip-dead-prototypes'

# finish TARGET: the text in $work to bitcode.
finish() {
  sed -E \
    -e 's/ "(target-cpu|target-features|tune-cpu)"="[^"]*"//g' \
    -e '/^!llvm\.(module\.flags|ident) =/d' \
    "$work/$1.ll" | "$opt" -passes="$tidy" -S |
    sed -E -e 's/^define dso_local (.*@rf_)/define linkonce_odr \1/' -e 's/^; ModuleID =.*//' |
    "$opt" -passes=verify -o "$out/$1.bc"
}

"$clang" $flags -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx75 \
  -nocudainc -nocudalib -Wno-unknown-cuda-version -S -emit-llvm gpu.cu -o "$work/nvptx64.ll"
finish nvptx64

for cpu in x86_64 aarch64; do
  "$clang" $flags -fno-stack-protector --target=$cpu-linux-gnu -S -emit-llvm cpu.cpp -o "$work/$cpu.ll"
  finish $cpu
done
