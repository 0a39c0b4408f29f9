package fuse

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestFuse runs the files of testdata. The directive fuse takes a program's
// text and prints the fused program's blocks, or only its report with report.
// Its arguments are
//
//	expect=D        some pair is fused over a dependence of that class; expect-not
//	                says that none is
//	refuse=R        some pair is refused for the reason R, written with dashes
//	keep=(k0,k1)    that pair stays apart; off fuses nothing
//	budget=B        sm_80, sm_90, cpu, or tiny, which nothing fits
//	two-indexes     old and full rows have indexes of their own
//	large=N         from N kernels and indexes on, a program is large
//	distinct=R      no tuple is inserted twice into that relation
//
// The text before and after runs over random facts, and the answers have to
// agree.
func TestFuse(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	refused := map[*Reason]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "logiql" {
					_, p, distinct := lowered(t, logiql(t, d), true)
					return fuseTest(t, d, p, Options{Distinct: distinct}, refused)
				}
				p, err := harmony.Parse("test.harmony", d.Input)
				if err == nil {
					err = harmony.Verify(p)
				}
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				return fuseTest(t, d, p, Options{}, refused)
			})
		})
	}
	for _, why := range Reasons() {
		if !refused[why] {
			t.Errorf("no test refuses a pair for the reason %q", why.Name)
		}
	}
}

// tiny is a budget that no fused kernel keeps.
var tiny = target.Budget{Name: "tiny", Threads: 1, Items: []int{1}, Registers: 1}

func fuseTest(t *testing.T, d *datadriven.TestData, p *harmony.Program, opts Options,
	refused map[*Reason]bool) string {
	var expect, expectNot, refuse string
	report := false
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "expect":
			expect = arg.Vals[0]
		case "expect-not":
			expectNot = arg.Vals[0]
		case "refuse":
			refuse = strings.ReplaceAll(arg.Vals[0], "-", " ")
		case "keep":
			opts.Keep = append(opts.Keep, Pair{arg.Vals[0], arg.Vals[1]})
		case "two-indexes":
			opts.TwoIndexes = true
		case "large":
			d.ScanArgs(t, "large", &opts.Large)
		case "off":
			opts.Off = true
		case "distinct":
			opts.Distinct = func(r *harmony.Relation) bool { return r.Name == arg.Vals[0] }
		case "file":
		case "report":
			report = true
		case "budget":
			i := slices.IndexFunc(budgets, func(b target.Budget) bool {
				return b.Name == arg.Vals[0]
			})
			opts.Budget = budgets[i]
		default:
			t.Fatalf("%s: no argument %s", d.Pos, arg.Key)
		}
	}
	out, rep := fuseTwice(t, d.Pos, p, opts)
	fusedOver := func(class string) bool {
		return slices.ContainsFunc(rep.Fusions, func(x Fusion) bool {
			return x.Dependence.String() == class
		})
	}
	if expect != "" && !fusedOver(expect) {
		t.Errorf("%s: no %s dependence is fused", d.Pos, expect)
	}
	if expectNot != "" && fusedOver(expectNot) {
		t.Errorf("%s: a %s dependence is fused", d.Pos, expectNot)
	}
	found := refuse == ""
	for _, x := range rep.Refusals {
		found = found || x.Reason.Name == refuse
		refused[x.Reason] = true
	}
	if !found {
		t.Errorf("%s: nothing is refused for %s", d.Pos, refuse)
	}
	for seed := range uint64(6) {
		if why := disagreement(seed, p, out); why != "" {
			t.Errorf("%s: %s", d.Pos, why)
		}
	}
	if report {
		return rep.KernelsString(nil) + rep.RefusalsString()
	}
	text := out.String()
	return text[strings.Index(text, "block "):] + rep.RefusalsString()
}

var budgets = []target.Budget{target.GPU(80).Budget, target.GPU(90).Budget, target.CPU().Budget,
	tiny}

// fuseTwice fuses a program and checks what holds of every fusion: the program
// given stays as it is, the text parses, a second run gives the same.
func fuseTwice(t *testing.T, name string, p *harmony.Program,
	opts Options) (*harmony.Program, *Report) {
	t.Helper()
	before := p.String()
	out, rep, err := Fuse(p, opts)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, before)
	}
	if p.String() != before {
		t.Fatalf("%s: the given program is changed:\n%s\nwas\n%s", name, p, before)
	}
	again, rep2, err := Fuse(p, opts)
	if err != nil || again.String() != out.String() ||
		rep2.RefusalsString() != rep.RefusalsString() {
		t.Fatalf("%s: a second run differs: %v", name, err)
	}
	if parsed, err := harmony.Parse("fused.harmony", out.String()); err != nil ||
		parsed.String() != out.String() {
		t.Fatalf("%s: the text does not parse back: %v\n%s", name, err, out)
	}
	var parts []string
	for _, k := range p.Kernels() {
		parts = append(parts, k.Name)
	}
	for _, k := range rep.Kernels {
		for _, part := range k.Parts {
			if !slices.Contains(parts, part) {
				t.Fatalf("%s: kernel %s has a part %s that is not there", name, k.Name, part)
			}
		}
	}
	return out, rep
}

// disagreement compares two programs over random facts.
func disagreement(seed uint64, before, after *harmony.Program) string {
	facts := randomFacts(rand.New(rand.NewPCG(seed, 1)), before)
	return harmonyref.Disagreement(facts, before, after, seed)
}

// randomFacts returns few rows of small values for a program's inputs and
// tables.
func randomFacts(rng *rand.Rand, p *harmony.Program) map[string]planref.Rows {
	return harmonyref.RandomFacts(rng, p, func(t scalar.Type) scalar.Value {
		return randomValue(t, rng.Int64N(6))
	})
}

func randomValue(t scalar.Type, word int64) scalar.Value {
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(word&1 == 1)
	case scalar.Float:
		return scalar.OfFloat(t, float64(word)/2)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64(word))
	case scalar.Datetime:
		return scalar.OfDatetime(word)
	case scalar.String:
		return scalar.OfString(string(rune('a' + word)))
	}
	return scalar.OfInt(t, word)
}
