package driver_test

import (
	"context"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/pointergen"
)

// TestCSPAByBruteForce runs an analysis whose rules find each tuple many times,
// by runs of an index that are long, and compares the numbers of tuples with a
// fixpoint of matrices of bits.
func TestCSPAByBruteForce(t *testing.T) {
	const n = 1100
	text, err := os.ReadFile("../../testdata/graphs/cspa.logic")
	if err != nil {
		t.Fatal(err)
	}
	prog := compile(t, string(text), driver.Options{})
	engines := []string{driver.EngineGo}
	if _, _, err := driver.ChooseEngine("cpu"); err == nil {
		engines = append(engines, "cpu")
	}
	facts, dir := pointergen.CSPA(n, 1), t.TempDir()
	if err := facts.Write(dir); err != nil {
		t.Fatal(err)
	}
	want := cspa(n, facts)
	for _, engine := range engines {
		for _, threads := range []int{1, 3} {
			in := driver.NewFacts().File("assign", filepath.Join(dir, "assign.tsv")).
				File("dereference", filepath.Join(dir, "dereference.tsv"))
			db, err := prog.Load(context.Background(), in, driver.LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			res, err := prog.RunOn(context.Background(), db,
				driver.RunOptions{Engine: engine, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for row := range res.Rows("_") {
				got = []int64{row[0].(int64), row[1].(int64), row[2].(int64)}
			}
			if !slices.Equal(got, want) {
				t.Errorf("engine %s, %d threads: %d, not %d", engine,
					threads, got, want)
			}
		}
	}
}

// matrix is a relation of numbers below its size: a row of bits for each first
// number.
type matrix [][]uint64

func newMatrix(n int) matrix {
	m := make(matrix, n)
	for i := range m {
		m[i] = make([]uint64, (n+63)/64)
	}
	return m
}

func (m matrix) add(x, y int) { m[x][y/64] |= 1 << (y % 64) }

func (m matrix) has(x, y int) bool { return m[x][y/64]>>(y%64)&1 != 0 }

func (m matrix) count() int64 {
	total := 0
	for _, row := range m {
		for _, word := range row {
			total += bits.OnesCount64(word)
		}
	}
	return int64(total)
}

// product adds the composition of a and b, or of the converse of a and b.
func (m matrix) product(a, b matrix, converse bool) matrix {
	for x := range m {
		for z := range m {
			if a.has(x, z) && !converse || converse && a.has(z, x) {
				for i, word := range b[z] {
					m[x][i] |= word
				}
			}
		}
	}
	return m
}

// cspa returns the numbers of tuples of valueFlow, memoryAlias and valueAlias.
func cspa(n int, facts pointergen.Facts) []int64 {
	assign, dereference := newMatrix(n), newMatrix(n)
	flow, memory, value := newMatrix(n), newMatrix(n), newMatrix(n)
	for _, p := range facts["assign"] {
		assign.add(p[0], p[1])
		flow.add(p[0], p[1])
		for _, x := range p {
			flow.add(x, x)
			memory.add(x, x)
		}
	}
	for _, p := range facts["dereference"] {
		dereference.add(p[0], p[1])
	}
	for before := int64(-1); before != flow.count()+memory.count()+value.count(); {
		before = flow.count() + memory.count() + value.count()
		flow.product(assign, memory, false)
		flow.product(flow, flow, false)
		memory.product(newMatrix(n).product(dereference, value, true), dereference, false)
		value.product(flow, flow, true)
		value.product(newMatrix(n).product(flow, memory, true), flow, false)
	}
	return []int64{flow.count(), memory.count(), value.count()}
}
