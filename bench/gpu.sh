#!/bin/sh
# Measures the gpu engine on a machine with a GPU and writes one table and JSON beside it.
#
#   bench/gpu.sh BIN OUT [flag of bench]...
#
# It builds nothing and fetches nothing: BIN is a folder with the programs redfox, bench and,
# if its tests are wanted, redfox-selftest, each as it is or compressed as NAME.xz, built
# with CGO_ENABLED=0. OUT gets gpu.json, gpu.txt and selftest.txt. It is run in the root of
# the source tree, for testdata and the peer's scripts. For TPC-H it needs tpchgen-cli on the
# PATH or as a Python package, and a Python with duckdb; without them those rows are left out.
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
for name in redfox bench redfox-selftest; do
	if [ -f "$bin/$name.xz" ]; then
		xz -dc "$bin/$name.xz" >"$work/$name"
	elif [ -f "$bin/$name" ]; then
		cp "$bin/$name" "$work/$name"
	else
		continue
	fi
	chmod +x "$work/$name"
done
python=${PYTHON:-python3}
tpch=${TPCH:-$work/tpch}
generator=$(command -v tpchgen-cli || true)
if [ ! -f "$tpch/lineitem.parquet" ] && [ -n "$generator" ]; then
	mkdir -p "$tpch"
	"$generator" parquet -s "${SCALE:-10}" --tables lineitem,orders,customer --output-dir "$tpch"
fi
"$work/redfox" engines
status=0
if [ "${SELFTEST:-1}" = 1 ] && [ -x "$work/redfox-selftest" ]; then
	"$work/redfox-selftest" -engine gpu >"$out/selftest.txt" 2>&1 || status=$?
	tail -n 3 "$out/selftest.txt"
fi
"$work/bench" -redfox "$work/redfox" -python "$python" -tpch "$tpch" -repeat 10 -json "$out/gpu.json" "$@" gpu >"$out/gpu.txt" 2>"$out/errors.txt" || status=$?
cat "$out/gpu.txt" "$out/errors.txt"
exit $status
