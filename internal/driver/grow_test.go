package driver

import (
	"fmt"
	"maps"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
)

// TestInsertionsShareColumns wants a transaction that adds a tuple to a large
// relation to allocate next to nothing once the columns have room.
func TestInsertionsShareColumns(t *testing.T) {
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const rows = 1_000_000
	x, y := make([]int64, rows), make([]int64, rows)
	for i := range x {
		x[i], y[i] = int64(i*7), int64(i%1000)
	}
	b := openBench(t, s, "e(x, y) -> int(x), int(y).\nn[] = c <- agg<<c = count()>> e(_, _).\n",
		NewFacts().Columns("e", x, y))
	// The first transaction stores the relation, the second makes room.
	b.must("+e(1, 1).")
	b.must("+e(4, 4).")
	for i, text := range []string{"+e(2, 2).", "+e(7, 1).", "+e(7, 2). +e(3, 3).", "+e(2, 2)."} {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		b.must(text)
		goruntime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1_000_000 {
			t.Errorf("transaction %d allocates %d bytes", i, bytes)
		}
	}
	b.wants(fmt.Sprint(rows+5), b.read("n"), "n")
}

// TestRandomInsertions holds transactions that only insert, delete or read
// against sets in Go. Sometimes one fails after others have grown the columns.
func TestRandomInsertions(t *testing.T) {
	inSessions(t, func(t *testing.T, s *Session) {
		steps := 40
		if s.options.Engine == EngineGo {
			steps = 300
		}
		r := rand.New(rand.NewPCG(21, 3))
		b := openBench(t, s, `
e(x, s) -> int(x), string(s).
d(t, b, x) -> datetime(t), boolean(b), decimal(x).
log(x) -> int(x).
ok(x) -> int(x).
ok(x) -> x < 9.
out(x) <- e(x, _), log(x).
`, NewFacts().Rows("e", []any{1, "a"}, []any{300, "b"}, []any{-5, "c"}))
		now := map[string]map[string]bool{"e": {"1a": true, "300b": true, "-5c": true}, "log": {},
			"d": {}, "ok": {}}
		for i := range steps {
			var text strings.Builder
			after := map[string]map[string]bool{}
			for pred, set := range now {
				after[pred] = maps.Clone(set)
			}
			x := r.IntN(20) - 3
			if r.IntN(8) == 0 {
				x *= 1000
			}
			var inserted []int
			for range 1 + r.IntN(2) {
				inserted = append(inserted, x)
				c := string("abcdz"[r.IntN(5)])
				fmt.Fprintf(&text, "+e(%d, %q).\n", x, c)
				after["e"][fmt.Sprint(x, c)] = true
				x++
			}
			failed := false
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&text, "+log(x) <- e@prev(x, _), x > %d.\n", x)
				for tuple := range now["e"] {
					var n int
					fmt.Sscanf(tuple, "%d", &n)
					if n > x {
						after["log"][fmt.Sprint(n)] = true
					}
				}
			case 1:
				fmt.Fprintf(&text, "-e(1, \"a\").\n")
				if !strings.Contains(text.String(), "+e(1, \"a\")") {
					delete(after["e"], "1a")
				}
			case 2:
				fmt.Fprintf(&text, "+ok(%d).\n", x)
				after["ok"][fmt.Sprint(x)] = true
				failed = x >= 9
			case 3:
				fmt.Fprintf(&text, "+log(x) <- +e(x, _), !log@prev(x).\n")
				for _, n := range inserted {
					after["log"][fmt.Sprint(n)] = true
				}
			}
			_, err := b.exec(text.String(), false)
			if failed != (err != nil) {
				t.Fatalf("step %d: failed is %t, and the error %v, of\n%s", i, failed, err,
					text.String())
			}
			if !failed {
				now = after
			}
			if i%3 > 0 {
				continue
			}
			got := b.read("e", "log", "ok")
			for _, pred := range []string{"e", "log", "ok"} {
				want := strings.Join(slices.Sorted(maps.Keys(now[pred])), "; ")
				if got[pred] != want {
					t.Fatalf("step %d: %s is\n%s, want\n%s, after\n%s", i, pred, got[pred], want,
						text.String())
				}
			}
		}
	})
}
