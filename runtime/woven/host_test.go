package woven

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/store"
)

// memory is a Machine that only has the words of relations, and runs no
// kernels.
type memory struct {
	Machine
	bound *Bound
	words map[*harmony.Relation][]order.Slice
	rows  map[*harmony.Relation]int
}

func newMemory(b *Bound) *memory {
	m := &memory{bound: b, words: map[*harmony.Relation][]order.Slice{},
		rows: map[*harmony.Relation]int{}}
	for _, r := range b.Graph.Relations {
		m.words[r] = make([]order.Slice, len(r.Cols))
		if loaded := b.Data.Columns(r); loaded != nil {
			m.rows[r] = b.Data.Rows(r)
			for i, c := range loaded {
				m.words[r][i] = make([]int64, m.rows[r])
				c.Read(m.words[r][i], 0)
			}
		}
	}
	return m
}

func (m *memory) Rows(r *harmony.Relation) (*order.Rows, error) {
	out := &order.Rows{Name: r.Name, N: m.rows[r]}
	for i, c := range r.Cols {
		col := order.Column{Type: c.Type, Words: m.words[r][i]}
		if d := m.bound.Dict(r, i); d != nil {
			col.Dict = d
		}
		out.Cols = append(out.Cols, col)
	}
	return out, nil
}

func (m *memory) Append(to *harmony.Relation, n int,
	read func(col int, dst []int64, from int)) error {
	for i := range to.Cols {
		// In two parts, as machines may ask for blocks.
		words := make([]int64, n)
		read(i, words[:n/2], 0)
		read(i, words[n/2:], n/2)
		m.words[to][i] = append(m.words[to][i], words...)
	}
	m.rows[to] += n
	return nil
}

// tuples returns the tuples of a relation as text, sorted.
func (m *memory) tuples(r *harmony.Relation) []string {
	rows, _ := m.Rows(r)
	var out []string
	for i := range rows.N {
		out = append(out, planref.Key(rows.Tuple(uint32(i))))
	}
	slices.Sort(out)
	return out
}

const hostKernels = `
relation r(x: int, d: decimal[18,2], s: string) input "r"
relation a(x: int, s: string, q: int) temp
relation b(s: string, c: string, d: decimal[18,2], n: int) temp
relation c(s: string, l: int, b: boolean) temp
relation none(x: int) temp
relation unit() temp
block b0:
  run k0 on host
    rows r
    v0: int = load x
    v1: string = load s
    v2: int = map mod(v0, 5)
    v3: int = map div(v0, v2)
    v4: string = map add(v1, v1)
    need v3
    store a(v0, v4, v3)
  run k1 on host
    rows r
    v0: decimal[18,2] = load d
    v1: int = load x
    v2: string = load s
    v3: decimal[18,2] = map add(v0, v0)
    v4: int = map mod(v1, 3)
    v5: int = map div(v1, v4)
    v6: boolean = map gt(v5, 10)
    v7: boolean = map holds(v6)
    v8: boolean = map not(v7)
    filter v8
    need v3
    store b(v2, "constant", v3, -7)
    store unit()
  run k2 on host
    rows a
    v0: string = load s
    v1: int = map string:length(v0)
    v2: boolean = map string:like(v0, "%77%")
    need v2
    v3: string = map string:upper(v0)
    store c(v3, v1, v2)
  run k3 on host
    rows r
    v0: int = load x
    filter false
    store none(v0)
  check a "a"
  check b "b"
  check c "c"
  check none "none"
  check unit "unit"
  halt
`

// TestHost compares kernels on the host with the reference, over no rows, less
// than a block, and more than a batch.
func TestHost(t *testing.T) {
	p, err := harmony.Parse("test.harmony", hostKernels)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 700, hostBlock, hostBlock + 1, hostBatch + 2*hostBlock + 9} {
		var rows planref.Rows
		dropped := int64(0)
		for i := range int64(n) {
			d, x := i*7, i-3
			if i%11 == 3 {
				d = 1 << 62
				if x%3 == 0 || x/(x%3) <= 10 {
					dropped++ // by k1, whose filter keeps it
				}
			}
			rows = append(rows,
				[]scalar.Value{scalar.OfInt(scalar.IntType, x), scalar.OfDecimal(2, d),
					scalar.OfString(fmt.Sprintf("s%d", i%500))})
		}
		want := map[*harmony.Relation][]string{}
		facts := map[string]planref.Rows{"r": rows}
		_, err := harmonyref.Run(p, facts, harmonyref.Options{Observe: &harmonyref.Observer{
			Register: func(*harmony.Reg, scalar.Value) {},
			Call:     func(*harmony.Map, []scalar.Value, scalar.Value, bool) {},
			Tuple: func(r *harmony.Relation, tuple []scalar.Value) {
				want[r] = append(want[r], planref.Key(tuple))
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		m, w := hostWalk(t, p, rows)
		kept := map[string]int64{}
		for _, k := range p.Kernels() {
			work, err := w.host(k)
			if err != nil {
				t.Fatal(err)
			}
			kept[k.Name] = work.Kept
		}
		for _, r := range p.Relations[1:] {
			slices.Sort(want[r])
			if got := m.tuples(r); !slices.Equal(got, want[r]) {
				t.Errorf("%d rows: %s has %d tuples and should have %d", n, r.Name, len(got),
					len(want[r]))
			}
		}
		if want := int64(len(want[p.Relations[1]])); kept["k0"] != want {
			t.Errorf("%d rows: k0 says that it kept %d, not %d", n, kept["k0"], want)
		}
		if w.answer.Dropped != dropped {
			t.Errorf("%d rows: %d decimals are dropped, not %d", n, w.answer.Dropped, dropped)
		}
	}
}

// hostWalk binds rows to a program's input.
func hostWalk(t *testing.T, p *harmony.Program, rows planref.Rows) (*memory, *Walk) {
	t.Helper()
	input := p.Relations[0]
	table := &store.Table{Name: "r", Rows: len(rows)}
	var cols []int
	for i, c := range input.Cols {
		b := store.NewBuilder(c.Type, nil)
		for _, row := range rows {
			b.AppendValue(row[i])
		}
		table.Columns = append(table.Columns, b.Finish())
		cols = append(cols, i)
	}
	db := store.NewDatabase()
	db.Put(&store.Relation{Name: "r", Table: table, Cols: cols, Keys: len(cols)})
	bound, err := Bind(context.Background(), NewProgram(&queryplan.Plan{}, p), db, layout.CPU, 2,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory(bound)
	return m, &Walk{Bound: bound, Machine: m, Order: &order.Sorter{Threads: 3},
		ctx: context.Background(), answer: &runtime.Answer{}}
}

// TestHostStops ends a kernel on the host when the run is cancelled.
func TestHostStops(t *testing.T) {
	p, err := harmony.Parse("test.harmony", hostKernels)
	if err != nil {
		t.Fatal(err)
	}
	_, w := hostWalk(t, p,
		planref.Rows{{scalar.OfInt(scalar.IntType, 1), scalar.OfDecimal(2, 1),
			scalar.OfString("s")}})
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	w.ctx = ctx
	if _, err := w.host(p.Kernels()[0]); err != stop {
		t.Errorf("the error is %v", err)
	}
}
