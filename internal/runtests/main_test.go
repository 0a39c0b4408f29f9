package main

import (
	"strings"
	"testing"
	"time"
)

func TestSummary(t *testing.T) {
	const events = `{"Action":"output","Package":"github.com/redfoxdb/redfox/a","Test":"TestX","Output":"    x_test.go:3: DuckDB is not installed\n"}
{"Action":"skip","Package":"github.com/redfoxdb/redfox/a","Test":"TestX"}
{"Action":"output","Package":"github.com/redfoxdb/redfox/a","Test":"TestY","Output":"=== RUN   TestY\n"}
{"Action":"output","Package":"github.com/redfoxdb/redfox/a","Test":"TestY","Output":"    y_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"github.com/redfoxdb/redfox/a","Test":"TestY"}
{"Action":"pass","Package":"github.com/redfoxdb/redfox/a","Test":"TestZ"}
{"Action":"fail","Package":"github.com/redfoxdb/redfox/a","Elapsed":0.25}
{"Action":"pass","Package":"github.com/redfoxdb/redfox","Elapsed":1}
not an event
`
	const want = `    y_test.go:9: got 1, want 2
FAIL  a  0.2s
ok    .  1.0s
not an event

1 tests passed, 1 failed, in 3s.
Left out:
  DuckDB is not installed
    a TestX
Failed:
a TestY
    y_test.go:9: got 1, want 2
`
	var out strings.Builder
	s := newSummary(&out)
	s.read(strings.NewReader(events))
	s.print(3 * time.Second)
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
