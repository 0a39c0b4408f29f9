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

// forest is a program whose transactions create entities with constructors, by
// delta rules and by rules, delete them and create them again.
const forest = `
node(x) -> .
leaf[n] = x -> int(n), node(x).
lang:constructor(` + "`" + `leaf).
join[a, b] = x -> node(a), node(b), node(x).
lang:constructor(` + "`" + `join).
mark[x] = k -> node(x), int(k).
linked(x, y) -> node(x), node(y).
seen(x) -> node(x).
mark[_] = k -> k < 5.

item(i) -> .
of[n] = i -> int(n), item(i).
lang:constructor(` + "`" + `of).
src(n) -> int(n).
weight[i] = w -> item(i), int(w).
kept(i) -> item(i).

make(n) -> int(n).
lang:pulse(` + "`" + `make).
link(m, n) -> int(m), int(n).
lang:pulse(` + "`" + `link).
drop(n) -> int(n).
lang:pulse(` + "`" + `drop).

+leaf[n] = x, +mark[x] = 0 <- +make(n), !leaf@prev[n] = _.
+join[a, b] = x, +node(x) <- +link(m, n), leaf[m] = a, leaf[n] = b.
-leaf[n] = x, -mark[x] = _, -node(x) <- +drop(n), leaf@prev[n] = x.
+seen(x) <- +node(x), !node@prev(x).
+kept(i) <- +item(i), weight[i] > 4.

item(i), of[n] = i, weight[i] = 2 * n <- src(n).
grown(x, y) <- linked(x, y), mark[x] = k, mark[y] = l, k < l.
grown(x, z) <- grown(x, y), grown(y, z).
deep(x) <- join[_, b] = x, mark[b] = _.
`

// twins adds a constructor to a type that has entities.
const twins = `
twin[x] = y -> node(x), node(y).
lang:constructor(` + "`" + `twin).
+twin[x] = y <- +link(n, n), leaf[n] = x.
`

// grove is the forest in Go: an entity is its term.
type grove struct {
	leaf, src, node, join, twin, seen, kept map[string]bool
	linked                                  map[[2]string]bool
	mark                                    map[string]int
	twins                                   bool            // the rules of twins are installed
	items                                   map[string]bool // that facts name
}

// groveFacts name entities that no rule makes, and the grove has them from the
// start.
func groveFacts() (*Facts, grove) {
	set := func(list ...string) map[string]bool {
		out := map[string]bool{}
		for _, x := range list {
			out[x] = true
		}
		return out
	}
	a, b, c := leafOf(0), leafOf(1), leafOf(9)
	join := "join[" + b + ", " + c + "]"
	facts := NewFacts().Rows("linked", []any{a, join}, []any{c, a}).Rows("kept", []any{"of[8]"})
	return facts, grove{leaf: set(a, b, c), src: set(), node: set(a, b, c, join), join: set(join),
		twin: set(), seen: set(), kept: set("of[8]"), items: set("of[8]"),
		linked: map[[2]string]bool{{a, join}: true, {c, a}: true}, mark: map[string]int{}}
}

func leafOf(n int) string { return fmt.Sprintf("leaf[%d]", n) }

func (g grove) clone() grove {
	for _, set := range []*map[string]bool{&g.leaf, &g.src, &g.node, &g.join, &g.twin, &g.seen,
		&g.kept} {
		*set = maps.Clone(*set)
	}
	g.linked, g.mark = maps.Clone(g.linked), maps.Clone(g.mark)
	return g
}

// contents returns the predicates that the test compares, as tuples does.
func (g grove) contents() map[string]string {
	grown := map[[2]string]bool{}
	for p := range g.linked {
		k, a := g.mark[p[0]]
		l, b := g.mark[p[1]]
		if a && b && k < l {
			grown[p] = true
		}
	}
	for again := true; again; {
		again = false
		for p := range maps.Clone(grown) {
			for q := range grown {
				if r := [2]string{p[0], q[1]}; p[1] == q[0] && !grown[r] {
					grown[r], again = true, true
				}
			}
		}
	}
	deep := map[string]bool{}
	for term := range g.join {
		_, b, _ := strings.Cut(strings.TrimSuffix(term, "]"), ", ")
		if _, ok := g.mark[b]; ok {
			deep[term] = true
		}
	}
	pairs := func(set map[[2]string]bool) map[string]bool {
		out := map[string]bool{}
		for p := range set {
			out[p[0]+p[1]] = true
		}
		return out
	}
	items := maps.Clone(g.items)
	maps.Copy(items, g.src)
	marks := map[string]bool{}
	for x, k := range g.mark {
		marks[fmt.Sprintf("%s%d", x, k)] = true
	}
	out := map[string]string{}
	for pred, set := range map[string]map[string]bool{"node": g.node, "seen": g.seen,
		"kept": g.kept, "item": items, "deep": deep, "mark": marks, "linked": pairs(g.linked),
		"grown": pairs(grown)} {
		out[pred] = strings.Join(slices.Sorted(maps.Keys(set)), "; ")
	}
	return out
}

// draw makes a transaction: its text, and the forest after it, or false if it
// has to be rolled back.
func (g grove) draw(r *rand.Rand) (text string, after grove, ok bool) {
	after = g.clone()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	links, marks, dropped := map[[2]int]bool{}, map[string]map[int]bool{}, map[string]bool{}
	set := func(x string, k int) {
		if marks[x] == nil {
			marks[x] = map[int]bool{}
		}
		marks[x][k] = true
	}
	var late []func()
	for range 1 + r.IntN(3) {
		m, n := r.IntN(4), r.IntN(4)
		switch r.IntN(8) {
		case 0, 1:
			say("+make(%d).", n)
			if x := leafOf(n); !g.leaf[x] {
				after.leaf[x], after.node[x] = true, true
				set(x, 0)
			}
		case 2:
			say("+link(%d, %d).", m, n)
			links[[2]int{m, n}] = true
		case 3:
			say("+drop(%d).", n)
			if g.leaf[leafOf(n)] {
				dropped[leafOf(n)] = true
			}
		case 4:
			say("+src(%d).", n)
			late = append(late, func() { after.src[fmt.Sprintf("of[%d]", n)] = true })
		case 5:
			say("-src(%d).", n) // an insertion wins
			delete(after.src, fmt.Sprintf("of[%d]", n))
		case 6:
			k := r.IntN(6)
			say("^mark[x] = %d <- leaf[%d] = x.", k, n)
			late = append(late, func() {
				if after.leaf[leafOf(n)] {
					set(leafOf(n), k)
				}
			})
		default:
			say("+linked(x, y) <- leaf[%d] = x, leaf[%d] = y.", m, n)
			late = append(late, func() {
				if p := ([2]string{leafOf(m), leafOf(n)}); after.leaf[p[0]] && after.leaf[p[1]] {
					after.linked[p] = true
				}
			})
		}
	}
	for x := range dropped {
		delete(after.leaf, x)
		delete(after.node, x)
		delete(after.mark, x)
	}
	for _, f := range late {
		f()
	}
	return b.String(), after, after.follow(g, links, marks)
}

// follow makes what follows from links, marks and new entities, and reports
// whether the constraints hold.
func (g *grove) follow(before grove, links map[[2]int]bool, marks map[string]map[int]bool) bool {
	for l := range links {
		a, b := leafOf(l[0]), leafOf(l[1])
		if g.leaf[a] && g.leaf[b] {
			term := fmt.Sprintf("join[%s, %s]", a, b)
			g.join[term], g.node[term] = true, true
			if g.twins && a == b {
				g.twin["twin["+a+"]"], g.node["twin["+a+"]"] = true, true
			}
		}
	}
	for x, values := range marks {
		for k := range values {
			if len(values) > 1 || k >= 5 {
				return false
			}
			g.mark[x] = k
		}
	}
	for x := range g.node {
		if !before.node[x] {
			g.seen[x] = true
		}
	}
	for i := range g.src {
		if !before.src[i] && i >= "of[3]" {
			g.kept[i] = true
		}
	}
	return true
}

// TestRandomEntities holds random transactions that create entities against the
// forest in Go, once without facts and once with facts that name entities.
func TestRandomEntities(t *testing.T) {
	inSessions(t, func(t *testing.T, s *Session) {
		empty := func() map[string]bool { return map[string]bool{} }
		runForest(t, s, NewFacts(), grove{empty(), empty(), empty(), empty(), empty(), empty(),
			empty(), map[[2]string]bool{}, map[string]int{}, false, empty()})
		facts, now := groveFacts()
		runForest(t, s, facts, now)
	})
}

func runForest(t *testing.T, s *Session, facts *Facts, now grove) {
	t.Helper()
	steps := 20
	if s.options.Engine == EngineGo {
		steps = 120
	}
	b := openBench(t, s, forest, facts)
	r := rand.New(rand.NewPCG(11, uint64(steps)))
	undone := 0
	for i := range steps {
		if i == steps/2 {
			if _, err := b.exec(twins, true); err != nil {
				t.Fatal(err)
			}
			now.twins = true
		}
		text, after, done := now.draw(r)
		got, err := b.exec(text+"_(x) <- node(x).", false)
		var wrong *ProgramError
		if done != (err == nil) || err != nil && !errors.As(err, &wrong) {
			t.Fatalf("step %d: done is %t, and the error %v, of\n%s", i, done, err, text)
		}
		if !done {
			undone++
		} else if want := after.contents()["node"]; got["_"] != want {
			t.Fatalf("step %d: node is %s, want %s, after\n%s", i, got["_"], want, text)
		}
		if done {
			now = after
		}
		if i%5 > 0 {
			continue
		}
		want := now.contents()
		got = b.read(slices.Sorted(maps.Keys(want))...)
		for pred := range want {
			if got[pred] != want[pred] {
				t.Fatalf("step %d: %s is\n%s, want\n%s, after\n%s", i, pred, got[pred],
					want[pred], text)
			}
		}
	}
	if steps == 120 && (undone == 0 || len(now.twin) == 0) || undone > steps/2 {
		t.Errorf("%d of %d transactions are rolled back, %d twins", undone, steps, len(now.twin))
	}
}

// TestNamesOnce wants only the transaction that loads facts to look for the
// entities that they name.
func TestNamesOnce(t *testing.T) {
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	facts, _ := groveFacts()
	b := openBench(t, s, forest+"deep(x) -> node(x).\nnoted(x) -> node(x).\n", facts)
	for _, text := range []string{"+make(3).", "+make(3).", "+link(0, 1)."} {
		b.must(text)
	}
	names := 0
	for _, step := range b.w.steps {
		if len(step.Step.Program.Naming) > 0 {
			names++
		}
	}
	if names != 1 {
		t.Errorf("%d of %d transactions look for names", names, len(b.w.steps))
	}
}
