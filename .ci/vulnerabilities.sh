#!/bin/sh
# Looks for known vulnerabilities in what the commands call. The database is at
# vuln.go.dev; GOVULNDB may name a copy of it, such as file:///srv/vulndb. A
# vulnerability fails the check. A machine that cannot reach the database leaves the
# check out and says so.
set -u
cd "$(dirname "$0")/.."

db=${GOVULNDB:-https://vuln.go.dev}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

${GO:-go} run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db "$db" ./... > "$out" 2>&1
code=$?
cat "$out"
[ "$code" != 0 ] || exit 0

# A failure to fetch is one line, without any result.
if grep -q -E '^govulncheck: .*(dial tcp|no such host|connection (refused|reset)|i/o timeout|TLS handshake|Forbidden|proxyconnect)' "$out" &&
    ! grep -q '^Vulnerability #' "$out"; then
    echo "Left out: known vulnerabilities are not looked for; the database $db cannot be reached."
    exit 0
fi
exit 1
