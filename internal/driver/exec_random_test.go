package driver

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ledger is a program with derived predicates of every kind over two that
// transactions change, delta rules that react to events, and a constraint.
const ledger = `
e(x, y) -> int(x), int(y).
f[x] = y -> int(x), int(y).
seen(x) -> int(x).
k(x) -> int(x).
lang:pulse(` + "`" + `k).
f[_] = y -> y < 6.

met(x, y) -> int(x), int(y).
lost(x) -> int(x).

+seen(x) <- +e(x, _).
+met(x, y) <- +reach(x, y), !+e(x, y).
-met(x, y) <- -reach(x, y).
+lost(x) <- -degree(x, _), !+degree(x, _).
-f[x] = _ <- -e(x, _), !e(x, _).
^f[x] = y + 1 <- +k(x), f@prev[x] = y.

two(x, z) <- e(x, y), e(y, z).
reach(x, y) <- e(x, y).
reach(x, z) <- reach(x, y), e(y, z).
bare(x) <- e(x, _), !f[x] = _.
degree[x] = n <- agg<<n = count()>> e(x, _).
far(x, y) <- reach(x, y), !two(x, y), f[x] = _.
`

type pair struct{ x, y int }

// books is the ledger in Go maps.
type books struct {
	e    map[pair]bool
	f    map[int]int
	seen map[int]bool
	met  map[pair]bool
	lost map[int]bool
}

func (b books) clone() books {
	return books{maps.Clone(b.e), maps.Clone(b.f), maps.Clone(b.seen), maps.Clone(b.met),
		maps.Clone(b.lost)}
}

func (b books) two() map[pair]bool {
	out := map[pair]bool{}
	for p := range b.e {
		for q := range b.e {
			if p.y == q.x {
				out[pair{p.x, q.y}] = true
			}
		}
	}
	return out
}

func (b books) reach() map[pair]bool {
	out := maps.Clone(b.e)
	for grown := true; grown; {
		grown = false
		for p := range maps.Clone(out) {
			for q := range b.e {
				if n := (pair{p.x, q.y}); p.y == q.x && !out[n] {
					out[n], grown = true, true
				}
			}
		}
	}
	return out
}

func (b books) degree() map[int]int {
	out := map[int]int{}
	for p := range b.e {
		out[p.x]++
	}
	return out
}

// contents returns every predicate as tuples does.
func (b books) contents() map[string]string {
	rows := map[string][]string{"e": nil, "f": nil, "seen": nil, "two": nil, "reach": nil,
		"bare": nil, "degree": nil, "far": nil, "k": nil, "met": nil, "lost": nil}
	add := func(pred string, row ...any) { rows[pred] = append(rows[pred], fmt.Sprint(row...)) }
	two := b.two()
	for p := range b.e {
		add("e", p.x, p.y)
	}
	for x, y := range b.f {
		add("f", x, y)
	}
	for x := range b.seen {
		add("seen", x)
	}
	for p := range b.met {
		add("met", p.x, p.y)
	}
	for x := range b.lost {
		add("lost", x)
	}
	for p := range two {
		add("two", p.x, p.y)
	}
	for p := range b.reach() {
		add("reach", p.x, p.y)
		if _, ok := b.f[p.x]; ok && !two[p] {
			add("far", p.x, p.y)
		}
	}
	for x, n := range b.degree() {
		add("degree", x, n)
		if _, ok := b.f[x]; !ok {
			add("bare", x)
		}
	}
	out := map[string]string{}
	for pred, list := range rows {
		slices.Sort(list)
		out[pred] = strings.Join(list, "; ")
	}
	return out
}

// entries are the events of a transaction that its text says directly.
type entries struct {
	plus, minus map[pair]bool
	set         map[int]map[int]bool
	k           map[int]bool
}

// post returns the books after a transaction, and false if it is rolled back.
// Late are the rules that depend on what e holds afterwards.
func (b books) post(in entries, late func(books, entries)) (books, bool) {
	after := b.clone()
	for p := range in.minus {
		delete(after.e, p)
	}
	for p := range in.plus {
		after.e[p], after.seen[p.x] = true, true
	}
	late(after, in)
	for x := range in.k {
		if y, ok := b.f[x]; ok {
			put(in.set, x, y+1)
		}
	}
	degree := after.degree()
	for p := range in.minus {
		if degree[p.x] == 0 {
			delete(after.f, p.x)
		}
	}
	for x, values := range in.set {
		if len(values) > 1 {
			return b, false
		}
		for y := range values {
			after.f[x] = y
		}
	}
	for _, y := range after.f {
		if y >= 6 {
			return b, false
		}
	}
	after.follow(b, in)
	return after, true
}

// follow makes the changes that follow from those of derived predicates.
func (after books) follow(b books, in entries) {
	was, is := b.reach(), after.reach()
	for p := range was {
		if !is[p] {
			delete(after.met, p)
		}
	}
	for p := range is {
		if !was[p] && !in.plus[p] {
			after.met[p] = true
		}
	}
	degree := after.degree()
	for x := range b.degree() {
		if degree[x] == 0 {
			after.lost[x] = true
		}
	}
}

func put(set map[int]map[int]bool, x, y int) {
	if set[x] == nil {
		set[x] = map[int]bool{}
	}
	set[x][y] = true
}

// draw makes a transaction: its text, and what it says.
func (b books) draw(r *rand.Rand) (string, entries, func(books, entries)) {
	in := entries{map[pair]bool{}, map[pair]bool{}, map[int]map[int]bool{}, map[int]bool{}}
	late := func(books, entries) {}
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	for range 1 + r.IntN(3) {
		x, y := r.IntN(6), r.IntN(6)
		switch r.IntN(10) {
		case 0, 1, 2:
			say("+e(%d, %d).", x, y)
			in.plus[pair{x, y}] = true
		case 3:
			say("-e(%d, %d).", x, y)
			in.minus[pair{x, y}] = true
		case 4:
			say("-e(%d, _).", x)
			for p := range b.e {
				if p.x == x {
					in.minus[p] = true
				}
			}
		case 5:
			say("^f[%d] = %d.", x, y)
			put(in.set, x, y)
		case 6:
			say("+k(%d).", x)
			in.k[x] = true
		case 7:
			say("+e(x, z) <- two@prev(x, z), x < %d.", x)
			for p := range b.two() {
				if p.x < x {
					in.plus[p] = true
				}
			}
		case 8:
			say("-e(x, y) <- e@start(x, y), reach@prev(y, x).")
			reach := b.reach()
			for p := range b.e {
				if reach[pair{p.y, p.x}] {
					in.minus[p] = true
				}
			}
		default:
			say("^f[x] = n <- degree[x] = n, !f@prev[x] = _, n > 1.")
			before := late
			late = func(after books, in entries) {
				before(after, in)
				for x, n := range after.degree() {
					if _, ok := b.f[x]; !ok && n > 1 {
						put(in.set, x, n)
					}
				}
			}
		}
	}
	return text.String(), in, late
}

// TestRandomTransactions holds random transactions against the books, and
// queries within them.
func TestRandomTransactions(t *testing.T) {
	inSessions(t, func(t *testing.T, s *Session) {
		steps := 20
		if s.options.Engine == EngineGo {
			steps = 250
		}
		b := openBench(t, s, ledger, NewFacts().Rows("e", []any{0, 1}, []any{1, 2}))
		now := books{map[pair]bool{{0, 1}: true, {1, 2}: true}, map[int]int{}, map[int]bool{},
			map[pair]bool{}, map[int]bool{}}
		r := rand.New(rand.NewPCG(7, uint64(steps)))
		undone := 0
		for i := range steps {
			text, in, late := now.draw(r)
			after, done := now.post(in, late)
			ask := []string{"two", "reach", "far", "bare"}[r.IntN(4)]
			vars := "x, y"
			if ask == "bare" {
				vars = "x"
			}
			got, err := b.exec(fmt.Sprintf("%s_(%s) <- %s(%s).", text, vars, ask, vars), false)
			var wrong *ProgramError
			if done != (err == nil) || err != nil && !errors.As(err, &wrong) {
				t.Fatalf("step %d: done is %t, and the error %v, of\n%s", i, done, err, text)
			}
			if !done {
				undone++
			} else if want := after.contents()[ask]; got["_"] != want {
				t.Fatalf("step %d: %s is %s, want %s, after\n%s", i, ask, got["_"], want, text)
			}
			now = after
			if i%5 > 0 {
				continue
			}
			want := now.contents()
			got = b.read(slices.Sorted(maps.Keys(want))...)
			for pred := range want {
				if got[pred] != want[pred] {
					t.Fatalf("step %d: %s is %s, want %s, after\n%s", i, pred, got[pred],
						want[pred], text)
				}
			}
		}
		if steps == 250 && undone == 0 || undone > steps/2 {
			t.Errorf("%d of %d transactions are rolled back", undone, steps)
		}
	})
}
