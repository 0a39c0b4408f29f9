package mixed

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// hostCard is a device that runs plans on the go engine, after failures.
type hostCard struct {
	card
	engine runtime.Engine
	fails  []error
	runs   int
}

func (c *hostCard) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	c.runs++
	if len(c.fails) > 0 {
		err := c.fails[0]
		c.fails = c.fails[1:]
		return nil, err
	}
	return c.engine.Run(ctx, req)
}

const totals = `
var paid(id: int; who: int, much: int) input "paid"
var _(who: int; sum: int) derived unique output
block b0:
  insert _
    aggregate [who] sum: int = total(much)
      scan paid(_, who, much)
  merge _
  halt
`

// means has averages in place of totals.
var means = strings.NewReplacer("sum: int = total", "sum: decimal[18,6] = avg", "sum: int",
	"sum: decimal[18,6]").Replace(totals)

// paidFacts has a payment of each amount by person 7.
func paidFacts(amounts ...int64) *store.Database {
	var ids, who []int64
	for i := range amounts {
		ids, who = append(ids, int64(i)), append(who, 7)
	}
	t := &store.Table{Name: "paid", Names: []string{"id", "who", "much"}, Rows: len(amounts),
		Columns: []*store.Column{store.ColumnOf(scalar.IntType, ids, nil),
			store.ColumnOf(scalar.IntType, who, nil), store.ColumnOf(scalar.IntType, amounts, nil)}}
	db := store.NewDatabase()
	db.Put(&store.Relation{Name: "paid", Table: t, Cols: []int{0, 1, 2}, Keys: 1})
	return db
}

// TestRuns divides a total by rows, and has it run as a whole where a part
// fails that the whole need not.
func TestRuns(t *testing.T) {
	const big = 1 << 62
	memory := &runtime.MemoryError{What: "paid", Device: true}
	fault := errors.New("a fault")
	for _, tt := range []struct {
		what    string
		plan    string
		amounts []int64
		fails   []error
		want    string   // the answer or the error
		ran     []string // engines of the first run
		again   []string // and of the second
	}{
		{"parts", totals, []int64{1, 2, 3, 4}, nil, "7 10", []string{"gpu 0-2", "cpu 2-4"},
			[]string{"gpu 0-2", "cpu 2-4"}},
		{"an overflow of a part", totals, []int64{big, big, -big, -big + 5}, nil, "7 5",
			[]string{"cpu"}, []string{"cpu"}},
		{"an overflow of all", totals, []int64{1, big, big, 1}, nil, "total for (7) does not fit int",
			nil, nil},
		{"an overflow of the merge", totals, []int64{big, 1, big, 1}, nil,
			"total for (7) does not fit int", nil, nil},
		{"no memory on the GPU", totals, []int64{1, 2, 3, 4}, []error{memory}, "7 10", []string{"cpu"},
			[]string{"cpu"}},
		{"another failure of the GPU", totals, []int64{1, 2, 3, 4}, []error{fault, fault}, "a fault", nil,
			nil},
		{"averages", means, []int64{1, 2, 3, 4}, nil, "7 2500000",
			[]string{"gpu 0-2", "cpu 2-4"}, []string{"gpu 0-2", "cpu 2-4"}},
		{"an average that does not fit", means, []int64{1, big / 4, 3, 4}, nil,
			"avg for (7) does not fit decimal[18,6]", nil, nil},
	} {
		plan, err := queryplan.Parse("p.plan", tt.plan)
		if err != nil {
			t.Fatal(err)
		}
		device := &hostCard{card: card{room: 1 << 20, weights: map[*store.Column]float64{},
			dropped: map[*store.Column]bool{}}, engine: portable.New(), fails: tt.fails}
		e := New(device, native{portable.New()}, portable.New(),
			Sizes{Segment: 1, Segments: 4, Runs: 100, Always: true, Most: 2})
		req := &runtime.Request{Plan: plan, Facts: paidFacts(tt.amounts...)}
		for _, want := range [][]string{tt.ran, tt.again} {
			answer, err := e.Run(t.Context(), req)
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("%s: %v", tt.what, err)
				}
				continue
			}
			rel := answer.Outputs["_"]
			if got := fmt.Sprint(rel.Column(0).Word(0), " ", rel.Column(1).Word(0)); rel.Rows() != 1 ||
				got != tt.want {
				t.Errorf("%s: %d rows, the first is %s", tt.what, rel.Rows(), got)
			}
			var ran []string
			for _, s := range answer.Segments {
				name := s.Engine
				if s.Of != "" {
					name += fmt.Sprintf(" %d-%d", s.From, s.Until)
				}
				ran = append(ran, name)
			}
			if !slices.Equal(ran, want) {
				t.Errorf("%s: it ran as %s, not %s", tt.what, strings.Join(ran, ", "),
					strings.Join(want, ", "))
			}
		}
	}
}

// TestJoinedSteps wants all steps of a plan to be one run where one engine has
// them all, and parts of rows where the GPU holds some of a table.
func TestJoinedSteps(t *testing.T) {
	const text = `
var paid(id: int; who: int, much: int) input "paid"
var all(id: int, much: int) derived output
var _(who: int; sum: int) derived unique output
block b0:
  insert all
    project id, much
      scan paid(id, _, much)
  merge all
  jump b1
block b1:
  insert all
    project id, more as much
      map more = add(much, 1)
        filter lt(much, 9)
          scan delta all(id, much)
  merge all
  branch delta all -> b1 else b2
block b2:
  insert _
    aggregate [who] sum: int = total(much)
      scan paid(_, who, much)
  merge _
  halt
`
	memory := &runtime.MemoryError{What: "paid", Device: true}
	for _, tt := range []struct {
		what  string
		room  int64
		most  int
		fails []error
		want  []int // parts of each of two runs; the last one is on the GPU or not
		gpu   []int
	}{
		{"the GPU holds all", 1 << 20, 0, nil, []int{1, 1}, []int{1, 1}},
		{"the GPU holds nothing", 1, 0, nil, []int{1, 1}, []int{0, 0}},
		{"the GPU takes a part", 1 << 20, 2, nil, []int{3, 3}, []int{2, 2}},
		{"the GPU has no memory", 1 << 20, 0, []error{memory}, []int{1, 1}, []int{0, 0}},
	} {
		plan, err := queryplan.Parse("p.plan", text)
		if err != nil {
			t.Fatal(err)
		}
		device := &hostCard{card: card{room: tt.room, weights: map[*store.Column]float64{},
			dropped: map[*store.Column]bool{}}, engine: portable.New(), fails: tt.fails}
		e := New(device, native{portable.New()}, portable.New(),
			Sizes{Segment: 1, Segments: 4, Runs: 100, Always: true, Most: tt.most})
		db := paidFacts(1, 2, 3, 4)
		for i := range tt.want {
			answer, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db})
			if err != nil {
				t.Fatal(err)
			}
			if n, sum := answer.Outputs["all"].Rows(), answer.Outputs["_"].Column(1).Word(0); n != 30 ||
				sum != 10 {
				t.Errorf("%s: %d tuples and %d in all", tt.what, n, sum)
			}
			gpu := 0
			for _, s := range answer.Segments {
				if s.Engine == runtime.GPU {
					gpu++
				}
			}
			if len(answer.Segments) != tt.want[i] || gpu != tt.gpu[i] {
				t.Errorf("%s: %d parts, %d of them on the GPU", tt.what, len(answer.Segments), gpu)
			}
		}
	}
}

// native is the go engine under the name of the engine for the host.
type native struct{ runtime.Engine }

func (native) Name() string { return runtime.CPU }

// TestForget wants nothing to be held of facts that are forgotten.
func TestForget(t *testing.T) {
	plan, err := queryplan.Parse("p.plan", totals)
	if err != nil {
		t.Fatal(err)
	}
	device := &hostCard{card: card{room: 1 << 20, weights: map[*store.Column]float64{},
		dropped: map[*store.Column]bool{}}, engine: portable.New()}
	e := New(device, native{portable.New()}, portable.New(),
		Sizes{Segment: 1, Segments: 4, Runs: 100, Always: true, Most: 2})
	db := paidFacts(1, 2, 3, 4)
	if _, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db}); err != nil {
		t.Fatal(err)
	}
	if len(e.databases) != 1 || len(e.cache.uses) != 1 || len(e.cache.held) == 0 {
		t.Errorf("%d databases, %d uses", len(e.databases), len(e.cache.uses))
	}
	e.Forget(db)
	if len(e.databases) != 0 || len(e.cache.uses) != 0 {
		t.Errorf("%d databases and %d uses stay", len(e.databases), len(e.cache.uses))
	}
	// Facts that are garbage are forgotten, too: the engine does not keep them.
	if _, err := e.Run(t.Context(),
		&runtime.Request{Plan: plan, Facts: paidFacts(1, 2, 3, 4)}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "facts to be collected", func() bool {
		goruntime.GC()
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.databases) == 0
	})
}

// TestConcurrentRuns has runs over several facts at once, while facts are
// forgotten and the cache is planned again.
func TestConcurrentRuns(t *testing.T) {
	plan, err := queryplan.Parse("p.plan", totals)
	if err != nil {
		t.Fatal(err)
	}
	device := &quietCard{portable.New()}
	e := New(device, native{portable.New()}, portable.New(),
		Sizes{Segment: 1, Segments: 4, Runs: 3, Always: true})
	var all sync.WaitGroup
	for i := range int64(4) {
		db := paidFacts(i, 2*i, 3*i, 4*i)
		for range 3 {
			all.Go(func() {
				for range 20 {
					answer, err := e.Run(context.Background(),
						&runtime.Request{Plan: plan, Facts: db})
					if err != nil {
						t.Error(err)
						return
					}
					if got := answer.Outputs["_"].Column(1).Word(0); got != 10*i {
						t.Errorf("the total is %d, not %d", got, 10*i)
					}
				}
				e.Forget(db)
			})
		}
	}
	all.Wait()
}

// quietCard is a device that runs plans on the go engine, with room for a part
// of the columns.
type quietCard struct{ engine runtime.Engine }

func (c *quietCard) Name() string { return runtime.GPU }
func (c *quietCard) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	return c.engine.Run(ctx, req)
}
func (c *quietCard) Room() (int64, error)         { return 40, nil }
func (c *quietCard) Weigh(*store.Column, float64) {}
func (c *quietCard) Drop(*store.Column)           {}
func (c *quietCard) Forget(*store.Database)       {}
