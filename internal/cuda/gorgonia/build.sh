#!/usr/bin/env bash
# Vets the driver over gorgonia.org/cu, and builds two programs with it:
#
#   selftest           holds it against package driver's interface
#   redfox-selftest    redfox's own, whose gpu engine then takes this driver
#
#   build.sh [DIR]     writes them to DIR (default: bench/data/gorgonia)
#
# It takes gcc, Go, libLLVM for the kernels that selftest runs, and the headers of
# CUDA 11 or 12: those in $CUDA_HOME, or NVIDIA's wheel of them, which pip fetches once.
# The driver need not be there: programs are linked against a stand-in of it, and find
# the real libcuda.so.1 when they start.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

out=${1:-$root/bench/data/gorgonia}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cache=$root/bench/data/cuda-headers
mkdir -p "$cache" "$out"

if [ -n "${CUDA_HOME:-}" ]; then
    include=$CUDA_HOME/include
else
    wheel=nvidia-cuda-runtime-cu12==12.9.79
    include=$cache/nvidia/cuda_runtime/include
    if [ ! -f "$include/cuda.h" ]; then
        python=$root/bench/data/venv/bin/python
        [ -x "$python" ] || python=python3
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$cache" "$wheel"
    fi
fi
version=$(sed -n 's/^#define CUDA_VERSION *//p' "$include/cuda.h")
case $version in
11???|12???) echo "headers of CUDA $version" ;;
*)
    echo "$include/cuda.h is of CUDA ${version:-?}; gorgonia.org/cu needs 11 or 12" >&2
    exit 2
    ;;
esac

# The stand-in has every function that the header declares, as the toolkit's has;
# each answers CUDA_ERROR_STUB_LIBRARY.
echo '#include <cuda.h>' | gcc -I"$include" -E - | tr '\n' ' ' |
    grep -oE '\bcu[A-Z][A-Za-z0-9_]* *\(' | tr -d ' (' | sort -u |
    sed 's/.*/int &(void) { return 34; }/' > "$cache/stub.c"
gcc -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o "$cache/libcuda.so" "$cache/stub.c"

# Status 2 is that of a machine without libLLVM. Then the self-test goes without kernels.
(cd "$root" && CGO_ENABLED=0 go build -o "$cache/redfox" ./cmd/redfox)
for program in "$here"/selftest/kernels/*.logic; do
    name=${program%.logic}
    rm -f "$name.abi" "$name.ptx"
    "$cache/redfox" compile -o "$cache/kernels.rfx" --target gpu:sm_80 "$program" || { [ $? = 2 ] || exit 1; continue; }
    "$cache/redfox" inspect --abi "$cache/kernels.rfx" > "$name.abi"
    "$cache/redfox" inspect --ptx "$cache/kernels.rfx" > "$name.ptx"
done

cd "$here"
export CGO_ENABLED=1 CGO_CFLAGS="-I$include" CGO_LDFLAGS="-L$cache"
go vet ./...
go build -trimpath -o "$out/selftest" ./selftest

# A file that names the driver is laid over redfox's own command, which is so built
# within this module.
command=cmd/redfox-selftest
printf '{"Replace": {"%s": "%s"}}\n' "$root/$command/gorgonia.go" "$here/_overlay/use.go" > "$cache/overlay.json"
go build -trimpath -ldflags "-s -w" -overlay "$cache/overlay.json" -o "$out/redfox-selftest" "github.com/redfoxdb/redfox/$command"
ls -l "$out"
