package ranges

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestFind runs testdata/find. The arguments of find are what is known of
// loaded columns, as edge.x=(0,9), of domains, as domain=(0,4), of tables, as
// table=(1,2), and unknown, for constants that are not known. Columns of what
// is computed and registers are printed with their bounds.
func TestFind(t *testing.T) {
	datadriven.RunTest(t, "testdata/find", func(t *testing.T, d *datadriven.TestData) string {
		p, err := harmony.Parse("test.harmony", d.Input)
		if err == nil {
			err = harmony.Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		known := map[string]interval.Interval{}
		for _, a := range d.CmdArgs {
			if len(a.Vals) == 2 {
				known[a.Key] = interval.Interval{Lo: number(t, a.Vals[0]), Hi: number(t, a.Vals[1])}
			}
		}
		r := Find(p, domain.Find(p), Options{
			Column: func(r *harmony.Relation, col int) interval.Interval {
				if k, ok := known[r.Name+"."+r.Cols[col].Name]; ok {
					return k
				}
				return interval.OfType(r.Cols[col].Type)
			},
			Domain:          func(int) interval.Interval { return known["domain"] },
			Table:           func(int) interval.Interval { return known["table"] },
			UnknownLiterals: d.HasArg("unknown"),
		})
		return describe(p, r)
	})
}

func number(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func describe(p *harmony.Program, r *Ranges) string {
	var b strings.Builder
	columns := func(v harmony.Managed, cols []harmony.Column) {
		b.WriteString(v.ManagedName() + ":")
		for i, c := range cols {
			fmt.Fprintf(&b, " %s %v", c.Name, r.Column(v, i))
		}
		b.WriteByte('\n')
	}
	for _, rel := range p.Relations {
		if rel.Kind != queryplan.Input && rel.Kind != queryplan.Table {
			columns(rel, rel.Cols)
		}
	}
	for _, g := range p.Groups {
		columns(g, g.Columns())
	}
	for _, k := range p.Kernels() {
		b.WriteString(k.Name + ":")
		n := 0
		for _, s := range k.Stages {
			def := harmony.Def(s)
			if def == nil {
				continue
			}
			if def.Row == nil {
				bound, exact := r.Reg(def)
				fmt.Fprintf(&b, " v%d %v", n, bound)
				if !exact {
					b.WriteString(" may not fit")
				}
			}
			n++
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestUnknown finds the ranges of a program of which nothing is known.
func TestUnknown(t *testing.T) {
	p, err := harmony.Parse("test.harmony", `relation a(x: int[8], s: string) input "a"
relation t0(x: int[8], s: string, n: int) temp
block b0:
  run k0
    rows a
    v0: int[8] = load x
    v1: string = load s
    v2: int = map string:length(v1)
    store t0(v0, v1, v2)
  check t0 "none"
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	const want = "t0: x [-128..127] s [0..4294967295] n [..]\nk0: v0 [-128..127] v1 [0..4294967295] v2 [..]\n"
	if got := describe(p, Find(p, domain.Find(p), Options{})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
