package frontend_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
)

// meaning is an expression or a condition on x, and its value for each x. A
// condition is 1 where it holds. An expression may have no value.
type meaning struct {
	text string
	of   func(x int) (value int, ok bool)
}

func truth(holds bool) (int, bool) {
	if holds {
		return 1, true
	}
	return 0, true
}

// held is what the predicate f of the programs holds.
var held = map[int]int{1: 10, 2: 0, 4: -3}

var (
	conditions = []meaning{
		{"x > 2", func(x int) (int, bool) { return truth(x > 2) }},
		{"f[x] = _", func(x int) (int, bool) { _, ok := held[x]; return truth(ok) }},
		{"f[x] >= 0", func(x int) (int, bool) { y, ok := held[x]; return truth(ok && y >= 0) }},
		{"6 / x > 2", func(x int) (int, bool) { return truth(x != 0 && 6/x > 2) }},
		{"!(f[x] = w, w > 0), x != 3", func(x int) (int, bool) { return truth(held[x] <= 0 && x != 3) }},
		{"x in {0, 4} ; f[x] = 10", func(x int) (int, bool) { return truth(x%4 == 0 || held[x] == 10) }},
	}
	values = []meaning{
		{"7", func(int) (int, bool) { return 7, true }},
		{"x - 1", func(x int) (int, bool) { return x - 1, true }},
		{"f[x]", func(x int) (int, bool) { y, ok := held[x]; return y, ok }},
		{"12 / x", func(x int) (int, bool) {
			if x == 0 {
				return 0, false
			}
			return 12 / x, true
		}},
	}
)

// conditional returns if c then a else b.
func conditional(c, a, b meaning) meaning {
	return meaning{fmt.Sprintf("(if %s then %s else %s)", c.text, a.text, b.text),
		func(x int) (int, bool) {
			if holds, _ := c.of(x); holds == 1 {
				return a.of(x)
			}
			return b.of(x)
		}}
}

// TestConditionalValues compares the conditional values of all pairs of cases
// with what Go computes: in a head, in an equality, in an aggregate and under a
// negation, alone and within one another.
func TestConditionalValues(t *testing.T) {
	var all []meaning
	for i, c := range conditions {
		for j, a := range values {
			for k, b := range values {
				plain := conditional(c, a, b)
				other := conditions[(i+j+k)%len(conditions)]
				all = append(all, plain, conditional(other, plain, b), conditional(other, a, plain))
			}
		}
	}
	program := "p(x) -> int(x). p(0). p(1). p(2). p(3). p(4). p(5).\n" +
		"f[1] = 10. f[2] = 0. f[4] = -3.\n"
	want := map[string]string{}
	for n, e := range all {
		program += fmt.Sprintf("h%d(x, %s) <- p(x).\n", n, e.text) +
			fmt.Sprintf("e%d(x, y) <- y = %s + 1, p(x).\n", n, e.text) +
			fmt.Sprintf("n%d(x) <- p(x), !(%s > 3).\n", n, e.text) +
			fmt.Sprintf("t%d[] = s + n <- agg<<s = total(%s), n = count()>> p(x), p(_).\n", n, e.text)
		var head, equal, not []string
		total, count := 0, 0
		for x := range 6 {
			v, ok := e.of(x)
			if ok {
				head = append(head, fmt.Sprintf("%d\t%d\n", x, v))
				equal = append(equal, fmt.Sprintf("%d\t%d\n", x, v+1))
				total, count = total+6*v, count+6
			}
			if !ok || v <= 3 {
				not = append(not, fmt.Sprintf("%d\n", x))
			}
		}
		name := func(kind string) string { return fmt.Sprint(kind, n) }
		want[name("h")], want[name("e")] = strings.Join(head, ""), strings.Join(equal, "")
		want[name("n")] = strings.Join(not, "")
		want[name("t")] = fmt.Sprintln(total + count)
		if count == 0 {
			want[name("t")] = ""
		}
	}
	compiled, found := frontend.Compile([]*source.File{source.NewFile("p.logic", program)},
		frontend.Options{})
	if compiled == nil {
		t.Fatal(firstError(found))
	}
	got, err := oracle.Run(compiled, oracle.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if text := oracle.TSV(got.Tuples[name]); text != want[name] {
			i := strings.Index(program, "\n"+name)
			line, _, _ := strings.Cut(program[i+1:], "\n")
			t.Errorf("%s\ngot\n%swant\n%s", line, text, want[name])
		}
	}
}
