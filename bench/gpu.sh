#!/bin/sh
# Measures the gpu engine on a machine with a GPU and writes one table and JSON beside it.
#
#   bench/gpu.sh BIN OUT [flag of bench]...
#
# It builds nothing and fetches nothing: BIN is a folder with the programs redfox and bench,
# and, if they are wanted, redfox-selftest and service.test (go test -c ./primitives/service,
# for the sorting of pairs by its kernels alone), built with CGO_ENABLED=0. OUT gets gpu.json,
# gpu.txt, errors.txt and selftest.txt. It is run in the root of the source tree,
# for testdata and the peer's scripts. For TPC-H it needs tpchgen-cli on the
# PATH and a Python with duckdb; without the first those rows are left out.
#
#   SCALE=10         scale factor of TPC-H
#   TPCH=DIR         where its Parquet files are, or are to be made
#   PYTHON=python3   the Python that has duckdb
#   SELFTEST=0       leaves the self-test out
set -eu
bin=$1 out=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
python=${PYTHON:-python3}
tpch=${TPCH:-$work/tpch}
generator=$(command -v tpchgen-cli || true)
if [ ! -f "$tpch/lineitem.parquet" ] && [ -n "$generator" ]; then
	mkdir -p "$tpch"
	"$generator" parquet -s "${SCALE:-10}" --output-dir "$tpch"
fi
"$bin/redfox" engines
status=0
if [ "${SELFTEST:-1}" = 1 ] && [ -x "$bin/redfox-selftest" ]; then
	"$bin/redfox-selftest" -engine gpu >"$out/selftest.txt" 2>&1 || status=$?
	tail -n 3 "$out/selftest.txt"
fi
[ -x "$bin/service.test" ] && set -- -service "$bin/service.test" "$@"
"$bin/bench" -redfox "$bin/redfox" -python "$python" -tpch "$tpch" -repeat 10 -json "$out/gpu.json" "$@" gpu >"$out/gpu.txt" 2>"$out/errors.txt" || status=$?
cat "$out/gpu.txt" "$out/errors.txt"
exit $status
