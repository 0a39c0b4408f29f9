package emit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestRun runs the programs in testdata/run natively, over random facts and in
// all variants, and wants harmonyref's answer. It prints the sizes of the
// outputs.
func TestRun(t *testing.T) {
	library(t)
	datadriven.Walk(t, "testdata/run", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, runAll)
	})
}

// runAll runs a program over little and much.
func runAll(t *testing.T, d *datadriven.TestData) string {
	p, err := harmony.Parse("test.harmony", d.Input)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	var b strings.Builder
	for i, n := range []int{0, 1, 40, 700} {
		facts := randomFacts(rand.New(rand.NewPCG(7, uint64(n))), p, n)
		drops := countDrops(p)
		want, wantErr := harmonyref.Run(p, facts, harmonyref.Options{Observe: drops.observer()})
		// Few rows go through some variant; compiling takes most of the time.
		run := variants
		if n < 700 {
			run = variants[(i+len(d.Input))%len(variants):][:1]
		}
		for _, v := range run {
			t.Run(fmt.Sprintf("%s, %d rows", v.name, n), func(t *testing.T) {
				checkRun(t, p, facts, v, &processor{}, want, wantErr, drops)
			})
		}
		fmt.Fprintf(&b, "%d rows:", n)
		if drops.known && drops.rows > 0 {
			fmt.Fprintf(&b, " %d dropped;", drops.rows)
		}
		if wantErr != nil {
			fmt.Fprintf(&b, " %v", wantErr)
		} else {
			for _, name := range slices.Sorted(maps.Keys(want.Outputs)) {
				fmt.Fprintf(&b, " %s %d", name, len(want.Outputs[name]))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// checkRun runs a program in one variant.
func checkRun(t *testing.T, p *harmony.Program, facts map[string]planref.Rows, v variant,
	on machine, want *planref.Answer, wantErr error, drops *drops) {
	t.Helper()
	d := newDriver(t, p, facts, v, on)
	got, err := d.run()
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("the run ends with %v, not %v\n%s", err, wantErr, d.code.IR)
	}
	if err != nil {
		return
	}
	if drops.known && d.dropped[0] != drops.rows {
		t.Errorf("%d rows are dropped for decimals that do not fit, not %d", d.dropped[0],
			drops.rows)
	}
	for text, rows := range d.violations {
		rows = planref.Dedup(rows)
		planref.SortRows(rows)
		if a, b := show(rows), show(want.Violations[text]); a != b {
			t.Fatalf("the violations of %s are\n%s\nnot\n%s\n%s", text, a, b, d.code.IR)
		}
	}
	if a, b := len(d.violations), len(want.Violations); a != b {
		t.Fatalf("%d constraints are violated, not %d\n%s", a, b, d.code.IR)
	}
	for name, rows := range want.Outputs {
		rows = slices.Clone(rows)
		planref.SortRows(rows)
		if a, b := show(got[name]), show(rows); a != b {
			t.Fatalf("%s is\n%s\nnot\n%s\nwith\n%s\n%s", name, a, b, d.code.Module, d.code.IR)
		}
	}
}

// drops counts the rows that are dropped for a decimal that does not fit, in a
// program whose needs stand behind what defines their registers.
type drops struct {
	needed map[*harmony.Reg]bool
	known  bool // whether the program is such a one
	rows   int64
}

func countDrops(p *harmony.Program) *drops {
	d := &drops{needed: map[*harmony.Reg]bool{}, known: true}
	for _, k := range p.Kernels() {
		for i, s := range k.Stages {
			if n, ok := s.(*harmony.Need); ok {
				d.known = d.known && harmony.Def(k.Stages[i-1]) == n.Reg
				d.needed[n.Reg] = true
			}
		}
	}
	return d
}

func (d *drops) observer() *harmonyref.Observer {
	return &harmonyref.Observer{
		Register: func(r *harmony.Reg, v scalar.Value) {
			if d.needed[r] && !v.Fits() {
				d.rows++
			}
		},
		Call:  func(*harmony.Map, []scalar.Value, scalar.Value, bool) {},
		Tuple: func(*harmony.Relation, []scalar.Value) {},
	}
}

func show(rows planref.Rows) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(planref.Key(r) + "\n")
	}
	return b.String()
}

// randomFacts makes n rows of each input.
func randomFacts(r *rand.Rand, p *harmony.Program, n int) map[string]planref.Rows {
	facts := map[string]planref.Rows{}
	for _, rel := range p.Relations {
		if rel.Kind != queryplan.Input || facts[rel.Source] != nil {
			continue
		}
		rows := planref.Dedup(randomRows(r, rel.Cols, n))
		if rel.Keys < len(rel.Cols) {
			seen := map[string]bool{}
			rows = slices.DeleteFunc(rows, func(row []scalar.Value) bool {
				k := planref.Key(row[:rel.Keys])
				defer func() { seen[k] = true }()
				return seen[k]
			})
		}
		facts[rel.Source] = rows
	}
	return facts
}
