package emit

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestPrograms runs the LogiQL programs of the project over random facts, each
// in one variant, and wants harmonyref's answer. It takes minutes, so only with
// -every; the engine's tests run the same programs over their own facts.
func TestPrograms(t *testing.T) {
	library(t)
	if !*every {
		t.Skip("only with -every")
	}
	for i, c := range programCases(t) {
		v := variants[i%len(variants)]
		t.Run(c.name+", "+v.name, func(t *testing.T) { c.run(t, v, &processor{}) })
	}
}

// TestGPUPrograms runs them on a GPU, each in several variants.
func TestGPUPrograms(t *testing.T) {
	gpu := openCard(t)
	for i, c := range programCases(t) {
		for j := range 2 {
			v := gpuVariants[(i+2*j)%len(gpuVariants)]
			t.Run(c.name+", "+v.name, func(t *testing.T) {
				t.Parallel()
				gpu.checkVariant(t, c.program, c.facts, v, c.want, c.wantErr, c.drops)
			})
		}
	}
}

// programCase is a program with random facts and its answer.
type programCase struct {
	name    string
	program *harmony.Program
	facts   map[string]planref.Rows
	want    *planref.Answer
	wantErr error
	drops   *drops
}

func (c *programCase) run(t *testing.T, v variant, on machine) {
	checkRun(t, c.program, c.facts, v, on, c.want, c.wantErr, c.drops)
}

// programCases compiles the test programs, fused and as they are lowered, and
// computes their answers. It leaves out those over which the reference takes
// long.
func programCases(t *testing.T) []*programCase {
	t.Helper()
	var out []*programCase
	for i, file := range wholePrograms(t) {
		off := i%4 == 3
		p, _, err := fuse.Fuse(loweredFile(t, file),
			fuse.Options{Budget: target.GPU(80).Budget, Off: off})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Relations {
			r.OrderBy, r.Limit = nil, -1 // is not what kernels do
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "../../testdata/"),
			".logic")
		for _, n := range []int{120, 30, 5} {
			c := &programCase{name: fmt.Sprintf("%s, %d rows", name, n), program: p}
			c.facts = likelyFacts(rand.New(rand.NewPCG(11, uint64(n))), p, n)
			if c.answer() {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// mostWork is how many values of registers and tuples a case may have.
const mostWork = 1 << 20

// answer computes the answer, if that takes no more than mostWork and the
// tables of a driver hold it.
func (c *programCase) answer() (ok bool) {
	type tooMuch struct{}
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(tooMuch); !is {
				panic(r)
			}
			ok = false
		}
	}()
	c.drops = countDrops(c.program)
	observe := c.drops.observer()
	work, tuples, register := 0, map[*harmony.Relation]int{}, observe.Register
	observe.Register = func(r *harmony.Reg, v scalar.Value) {
		if work++; work > mostWork {
			panic(tooMuch{})
		}
		register(r, v)
	}
	observe.Tuple = func(rel *harmony.Relation, _ []scalar.Value) {
		if tuples[rel]++; tuples[rel] > mostRows/2 {
			panic(tooMuch{})
		}
	}
	c.want, c.wantErr = harmonyref.Run(c.program, c.facts, harmonyref.Options{Observe: observe})
	return true
}

// likelyFacts makes n rows of each input, half of their values close to
// constants of the program, so that filters let some through.
func likelyFacts(r *rand.Rand, p *harmony.Program, n int) map[string]planref.Rows {
	consts := map[scalar.Kind][]scalar.Value{}
	for _, k := range p.Kernels() {
		for _, s := range k.Stages {
			if m, ok := s.(*harmony.Map); ok {
				for _, a := range m.Args {
					if a.Reg == nil {
						consts[a.Const.Type.Kind] = append(consts[a.Const.Type.Kind], a.Const)
					}
				}
			}
		}
	}
	facts := randomFacts(r, p, n)
	for _, rel := range p.Relations {
		for _, row := range facts[rel.Source] {
			for i, v := range row {
				list := consts[v.Type.Kind]
				// Keys stay as they are: they are different from each other.
				if i < rel.Keys && rel.Keys < len(row) || len(list) == 0 || r.IntN(2) == 0 {
					continue
				}
				c := list[r.IntN(len(list))]
				switch v.Type.Kind {
				case scalar.String:
					row[i] = c
				case scalar.Datetime:
					row[i] = scalar.OfDatetime(c.Int() + (r.Int64N(400)-200)*86_400_000_000)
				case scalar.Int, scalar.Uint:
					if w := scalar.OfInt(v.Type, c.Int()+r.Int64N(3)-1); w.Fits() {
						row[i] = w
					}
				}
			}
		}
		if rel.Source != "" {
			facts[rel.Source] = planref.Dedup(facts[rel.Source])
		}
	}
	return facts
}

// append adds rows to a temp.
func (d *driver) append(rel *harmony.Relation, rows planref.Rows) {
	r := d.rels[rel]
	for _, row := range rows {
		for i, v := range row {
			r.cols[i].set(int(r.gauge[0]), d.word(v, d.domains.Column(rel, i)))
		}
		r.gauge[0]++
	}
}

// checkKey is the command of that name.
func (d *driver) checkKey(rel *harmony.Relation) error {
	seen := map[string]bool{}
	for _, row := range d.rows(d.rels[rel]) {
		k := planref.Key(row[:rel.Keys])
		if seen[k] {
			return planref.ErrKey
		}
		seen[k] = true
	}
	return nil
}

// number is the command of that name.
func (d *driver) number(c *harmony.Number) {
	d.append(c.To,
		planref.Number(slices.Clone(d.rows(d.rels[c.From])), c.Group, c.From.Cols, c.Order))
}
