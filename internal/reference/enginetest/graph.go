package enginetest

import (
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// clears has what lowering seldom makes: a loop in which a temp, a set, groups
// and an index are filled, emptied and filled again.
const clears = `
relation edge(x: int, y: int) input "edge"
relation seen(x: int, y: int) derived output
relation ends(y: int) derived
relation far(y: int, n: int) derived output
relation bag(x: int, y: int) temp
index by multi bag(x)
index known exists seen(x, y)
groups g(y: int; n: int = count())
block b0:
  run k0
    rows edge
    v0: int = load x
    v1: int = load y
    insert seen(v0, v1)
  merge seen
  branch delta seen -> b1 else b2
block b1:
  clear bag
  clear ends
  clear g
  run k1
    rows delta seen
    v0: int = load x
    v1: int = load y
    store bag(v1, v0)
    insert ends(v1)
    group g [v1] count()
  merge ends
  build by
  build known
  run k2
    rows ends
    v0: int = load y
    v1: row = probe multi by(v0)
    v2: int = gather y[v1]
    v3: int = map add(v0, 1)
    v4: boolean = map lt(v3, 60)
    filter v4
    probe absent known(v2, v3)
    insert seen(v2, v3)
  run k3
    groups g
    v0: int = load y
    v1: int = load n
    insert far(v0, v1)
  merge far
  merge seen
  branch delta seen -> b1 else b2
block b2:
  halt
`

// Clears has a kernel graph run that empties and fills variables of every kind,
// and compares with the reference for kernel graphs.
func Clears(t *testing.T,
	run func(graph *harmony.Program, db *store.Database) (*runtime.Answer, error)) {
	t.Helper()
	graph, err := harmony.Parse("test.harmony", clears)
	if err == nil {
		err = harmony.Verify(graph)
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows planref.Rows
	for i := range int64(300) {
		rows = append(rows,
			[]scalar.Value{scalar.OfInt(scalar.IntType, i), scalar.OfInt(scalar.IntType, i*7%50)})
	}
	want, err := harmonyref.Run(graph, map[string]planref.Rows{"edge": rows}, harmonyref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns := make([]any, 2)
	s := store.Schema{Name: "edge", Keys: 2}
	for i, name := range []string{"x", "y"} {
		s.Args = append(s.Args, store.Field{Name: name, Type: scalar.IntType})
		var words []int64
		for _, r := range rows {
			words = append(words, r[i].Int())
		}
		columns[i] = words
	}
	rel, err := read.FromSlices(s, columns...)
	if err != nil {
		t.Fatal(err)
	}
	db := store.NewDatabase()
	db.Put(rel)
	got, err := run(graph, db)
	if err != nil {
		t.Fatal(err)
	}
	for name, rel := range got.Outputs {
		have, wanted := Contents(rel), want.Outputs[name]
		if len(wanted) < 50 ||
			!slices.EqualFunc(have, wanted, func(a oracle.Tuple, b []scalar.Value) bool {
				return oracle.Compare(a, b) == 0
			}) {
			t.Errorf("%s has %d tuples, not %d", name, len(have), len(wanted))
		}
	}
}
