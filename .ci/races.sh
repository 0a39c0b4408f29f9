#!/bin/sh
# Runs short tests under the race detector, which needs cgo and a C compiler: of the
# engines, stored data, the API, and the packages whose files other processes change.
set -eu
cd "$(dirname "$0")/.."

if ! command -v "${CC:-gcc}" > /dev/null; then
    echo "Left out: the race detector does not run; it needs gcc."
    exit 0
fi
CGO_ENABLED=1 ${GO:-go} test -race -short -timeout 60m \
    ./internal/atomicfile ./internal/confine ./internal/kernelcache ./internal/driver ./runtime/... .
