package prepare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

func parse(t *testing.T, text string) (*harmony.Program, *domain.Domains) {
	t.Helper()
	p, err := harmony.Parse("test.harmony", text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, domain.Find(p)
}

// stringFacts returns facts of relations of one string column each.
func stringFacts(facts map[string][]string) *store.Database {
	db := store.NewDatabase()
	for name, list := range facts {
		t := &store.Table{Name: name, Columns: []*store.Column{store.StringColumn(list)},
			Rows: len(list)}
		db.Put(&store.Relation{Name: name, Table: t, Cols: []int{0}, Keys: 1})
	}
	return db
}

const twoInputs = `relation a(s: string) input "a"
relation b(s: string) input "b"
relation t0(s: string, n: int) temp
block b0:
  run k0
    rows a
    v0: string = load s
    store t0(v0, 1)
    store t0("m", 1)
  run k1
    rows b
    v0: string = load s
    v1: boolean = map le(v0, "d")
    filter v1
    store t0(v0, 2)
  check t0 "strings"
  halt
`

// TestShared gives two columns one dictionary: the strings of both and the
// constants that need codes, in order.
func TestShared(t *testing.T) {
	p, domains := parse(t, twoInputs)
	db := stringFacts(map[string][]string{"a": {"x", "c"}, "b": {"b", "c", "e"}})
	before := db.Relation("a").Column(0)
	d, err := Bind(context.Background(), p, domains, db, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for code := range int64(d.Dict(0).Len()) {
		all = append(all, d.String(0, code))
	}
	if want := []string{"b", "c", "e", "m", "x"}; !slices.Equal(all, want) {
		t.Errorf("the dictionary has %q, want %q", all, want)
	}
	a := d.Columns(p.Relations[0])[0]
	if a.Word(0) != 4 || a.Word(1) != 1 || d.Rows(p.Relations[0]) != 2 {
		t.Errorf("column a has %d and %d", a.Word(0), a.Word(1))
	}
	// The codes of b stay as they are.
	if len(d.Copies) != 1 || d.Copies[0].Name != "a" || d.Copies[0].Bytes != a.Bytes() {
		t.Errorf("copies are %v", d.Copies)
	}
	if got := db.Relation("a").Column(0); got != before || got.Word(0) != 1 {
		t.Error("binding changes the facts")
	}
	for s, want := range map[string][3]int64{"d": {-1, 2, 2}, "c": {1, 1, 2}, "": {-1, 0, 0},
		"z": {-1, 5, 5}} {
		if code, lo, hi := d.Code(0, s); [3]int64{code, lo, hi} != want {
			t.Errorf("%q has code %d and place %d to %d, want %v", s, code, lo, hi, want)
		}
	}
	if !d.Constant() || d.Bounds(0) != (interval.Interval{Lo: 0, Hi: 4}) {
		t.Errorf("the domain is bounded by %v, constant %v", d.Bounds(0), d.Constant())
	}
}

// TestWithoutFacts binds nothing.
func TestWithoutFacts(t *testing.T) {
	p, domains := parse(t, strings.ReplaceAll(twoInputs, "    store t0(\"m\", 1)\n", ""))
	for _, db := range []*store.Database{nil, store.NewDatabase(),
		stringFacts(map[string][]string{"a": {}})} {
		d, err := Bind(context.Background(), p, domains, db, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Relations[:2] {
			if c := d.Columns(r)[0]; c.Len() != 0 || c.Dict != d.Dict(0) || d.Rows(r) != 0 {
				t.Errorf("%s has %d rows in dictionary %p", r.Name, c.Len(), c.Dict)
			}
		}
		if !d.Bounds(0).Empty() {
			t.Errorf("no strings are bounded by %v", d.Bounds(0))
		}
	}
}

// TestErrors binds facts that do not suit.
func TestErrors(t *testing.T) {
	p, domains := parse(t, twoInputs)
	wide := store.NewDatabase()
	wide.Put(&store.Relation{Name: "a",
		Table: &store.Table{Name: "a", Columns: []*store.Column{nil, nil}}, Cols: []int{0, 1}})
	ints := store.NewDatabase()
	ints.Put(&store.Relation{Name: "b",
		Table: &store.Table{Name: "b",
			Columns: []*store.Column{store.ColumnOf(scalar.IntType, []int64{1}, nil)}, Rows: 1},
		Cols: []int{0}})
	for want, db := range map[string]*store.Database{
		"a has 1 columns in the program and 2 in the facts":           wide,
		"column s of b is string in the program and int in the facts": ints,
	} {
		if _, err := Bind(context.Background(), p, domains, db, 1, nil); err == nil ||
			err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestGrows interns from several goroutines, into a dictionary that is not that
// of the facts.
func TestGrows(t *testing.T) {
	p, domains := parse(t, `relation a(s: string) input "a"
relation r(s: string) derived output
block b0:
  run k0
    rows a
    v0: string = load s
    v1: string = map add(v0, v0)
    v2: boolean = map eq(v1, "qq")
    filter v2
    insert r(v0)
    insert r(v1)
  merge r
  halt
`)
	db := stringFacts(map[string][]string{"a": {"a", "b"}})
	d, err := Bind(context.Background(), p, domains, db, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Constant() || d.Bounds(0) != interval.OfType(scalar.StringType) {
		t.Errorf("a domain that grows is bounded by %v, constant %v", d.Bounds(0), d.Constant())
	}
	if code, _, _ := d.Code(0, "qq"); code < 0 || code >= 3 {
		t.Errorf("the constant has code %d", code)
	}
	var wg sync.WaitGroup
	codes := make([][]int64, 4)
	for w := range codes {
		wg.Go(func() {
			for i := range 1000 {
				codes[w] = append(codes[w], d.Intern(0, fmt.Sprint(i%500)))
			}
		})
	}
	wg.Wait()
	for w := range codes {
		for i, c := range codes[w] {
			if c != codes[0][i] || d.String(0, c) != fmt.Sprint(i%500) {
				t.Fatalf("worker %d has code %d for %d", w, c, i%500)
			}
		}
	}
	if dict := db.Relation("a").Column(0).Dict; dict.Len() != 2 || dict == d.Dict(0) {
		t.Error("the run interns into the dictionary of the facts")
	}
	again, err := Bind(context.Background(), p, domains, db, 1, nil)
	if err != nil || again.Dict(0) == d.Dict(0) || again.Dict(0).Len() != 3 {
		t.Error("two runs share a dictionary that grows")
	}
}

// TestTables evaluates tables of tables over a dictionary that takes several
// threads.
func TestTables(t *testing.T) {
	p, domains := parse(t, `relation a(s: string) input "a"
relation r(s: string, n: int, b: boolean) derived output
block b0:
  run k0
    rows a
    v0: string = load s
    v1: string = map string:split(v0, "-", 1)
    need v1
    v2: string = map string:upper(v1)
    v3: int = map convert(v0)
    need v3
    v4: boolean = map string:notlike(v2, "%7%")
    need v4
    insert r(v2, v3, v4)
  merge r
  halt
`)
	var list []string
	for i := range 3 * tableEntries {
		list = append(list, fmt.Sprintf("%d-%x", i, i%5000))
		if i%10 == 0 {
			list = append(list, fmt.Sprint(i))
		}
	}
	facts := map[string]planref.Rows{}
	for _, s := range list {
		facts["a"] = append(facts["a"], []scalar.Value{scalar.OfString(s)})
	}
	f := follow(t, "tables", p, facts)
	if err := f.run(facts); err != nil {
		t.Fatal(err)
	}
	if len(domains.Tables()) != 4 || f.seen["table"] == 0 || f.seen["host"] > 0 {
		t.Errorf("%d tables, %v", len(domains.Tables()), f.seen)
	}
	numbers := f.data.Tables[slices.IndexFunc(f.domains.Tables(), func(t abi.Table) bool {
		return t.Func == "convert"
	})]
	if got, want := Bounds(numbers.Column),
		(interval.Interval{Lo: 0, Hi: 3*tableEntries - 8}); got != want {
		t.Errorf("the numbers are bounded by %v, want %v", got, want)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := Bind(ctx, p, domains, database(p, facts), 3, nil); err != stop {
		t.Errorf("the error is %v after the context is done", err)
	}
}

// TestStored finds the columns of a table by their places.
func TestStored(t *testing.T) {
	words := func(w int64) *store.Column { return store.ColumnOf(scalar.IntType, []int64{w}, nil) }
	db := store.NewDatabase()
	table := &store.Table{Name: "sales", Columns: []*store.Column{words(0), words(1), words(2)},
		Rows: 1}
	db.Put(&store.Relation{Name: "price", Table: table, Cols: []int{0, 2}, Keys: 1})
	cols := []queryplan.Column{{Name: "x", Type: scalar.IntType}, {Name: "y", Type: scalar.IntType}}
	for _, c := range []struct {
		kind   queryplan.VarKind
		source string
		stored []int
		want   []int64
	}{
		{queryplan.Input, "price", nil, []int64{0, 2}},
		{queryplan.Table, "sales", []int{2, 1}, []int64{2, 1}},
		{queryplan.Table, "other", []int{2, 1}, nil},
	} {
		got, rows, err := Stored(db, Variable{"v", c.kind, cols, c.source, c.stored})
		if err != nil || len(got) != 2 || rows != min(1, len(c.want)) {
			t.Fatalf("%s: %d columns of %d rows, %v", c.source, len(got), rows, err)
		}
		for i, w := range c.want {
			if got[i].Word(0) != w {
				t.Errorf("%s: column %d is %d, want %d", c.source, i, got[i].Word(0), w)
			}
		}
	}
}
