package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// people is 40 persons, of whom many share a name, and whose towns join.
const people = `person:name[p] = n -> int(p), string(n).
person:note[p] = n -> int(p), string(n).
person:town[p] = t -> int(p), int(t).
near(t) -> int(t).
near(t) <- t = 2 ; t = 5.
`

// writePeople writes the file, with a name that is no text for one of them, or
// for none if bad is negative.
func writePeople(t *testing.T, dir string, bad int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "person.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids, names := store.NewBuilder(scalar.IntType, nil), store.NewBuilder(scalar.StringType, nil)
	notes, towns := store.NewBuilder(scalar.StringType, nil), store.NewBuilder(scalar.IntType, nil)
	for i := range int64(40) {
		ids.Append(i)
		name := fmt.Sprintf("name %d", 39-i/4)
		if i == bad {
			name = "\xff"
		}
		names.AppendString(name)
		notes.AppendString(fmt.Sprintf("note %d", i*7%40))
		towns.Append(i % 7)
	}
	out := &write.Output{Name: "t", Names: []string{"p", "name", "note", "town"}, Rows: 40, Limit: -1,
		InOrder: true,
		Columns: []*store.Column{ids.Finish(), names.Finish(), notes.Finish(), towns.Finish()}}
	if err := write.Rows(f, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestReadTextLate compares answers whose strings are read late with those of
// whole facts. late are the columns that are put off.
func TestReadTextLate(t *testing.T) {
	dir := t.TempDir()
	writePeople(t, dir, -1)
	for _, c := range []struct{ name, rules, late, read string }{
		{"a join", `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n.`, "name", "name"},
		{"equal strings of several rows", `_(n) <- near(t), person:town[p] = t, person:name[p] = n.`,
			"name", "name"},
		{"two columns", `_(n, m) <- near(t), person:town[p] = t, person:name[p] = n,
			person:note[p] = m.`, "name note", "name note"},
		{"an order by strings", `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n.
			lang:output:orderBy[` + "`_] = \"n\".", "name", "name"},
		{"a limit among equal values", `_(t, n, p) <- near(t), person:town[p] = t,
			person:name[p] = n.
			lang:output:orderBy[` + "`_] = \"t\".\nlang:output:limit[`_] = 3.", "name", ""},
		{"nothing left out", `_(p, n) <- person:name[p] = n.`, "", ""},
		{"a comparison", `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n,
			n > "name 33".`, "", ""},
		{"a function", `_(p, m) <- near(t), person:town[p] = t, person:name[p] = n,
			m = n + "x".`, "", ""},
		{"a join of strings", `_(p, q, n) <- near(t), person:town[p] = t, person:name[p] = n,
			person:name[q] = n.`, "", ""},
		{"a count of different strings", `pair(n, t) <- person:name[p] = n, person:town[p] = t, near(t).
			_[t] = c <- agg<<c = count()>> pair(_, t).`, "", ""},
		{"the least string", `_[t] = m <- agg<<m = min(n)>> near(t), person:town[p] = t,
			person:name[p] = n.`, "", ""},
		{"two rules", `_(n) <- near(t), person:town[p] = t, person:name[p] = n.
			_(n) <- near(t), person:town[p] = t, person:note[p] = n.`, "", ""},
		{"an answer of one of two", `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n.
			other(p) <- person:note[p] = n, person:name[p] = m, n > m.
			_x(p) <- other(p).`, "", ""},
		{"rows that are selected", `_(p, n) <- person:town[p] = t, t < 3, near(t), person:name[p] = n.`,
			"name", "name"},
		{"a constraint", `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n.
			near(t), person:town[p] = t, person:name[p] = n -> n != "x".`, "", ""},
		{"no rows", `_(p, n) <- near(t), person:town[p] = t, t > 5, person:name[p] = n.`,
			"name", "name"},
	} {
		onEngines(t, func(t *testing.T, engine string) {
			t.Run(c.name, func(t *testing.T) {
				compareLate(t, people+c.rules, engine, dir, c.late, c.read)
			})
		})
	}
}

// TestReadTextLateOfBadRow has a string that is no text. The load of a run that
// wants it says so.
func TestReadTextLateOfBadRow(t *testing.T) {
	text := people + `_(p, n) <- near(t), person:town[p] = t, person:name[p] = n.`
	for bad, wantErr := range map[int64]string{9: "row 10: column 2 (name)", 10: ""} {
		dir := t.TempDir()
		writePeople(t, dir, bad)
		opts := RunOptions{Engine: EngineGo}
		opts.Load.allLate, opts.Load.proofs = true, keptProofs(map[string][]byte{})
		prog := compileText(t, text, Options{})
		res, err := prog.Run(context.Background(), NewFacts().Dir(dir), opts)
		if wantErr == "" && (err != nil || res.Len("_") != 11) ||
			wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
			t.Errorf("with row %d: error %v", bad, err)
		}
	}
}

// compareLate runs a program with and without putting off.
func compareLate(t *testing.T, text, engine, dir, wantLate, wantRead string) {
	t.Helper()
	ctx := context.Background()
	var texts []string
	for _, disable := range [][]string{{readLate}, nil} {
		prog := compileText(t, text, Options{Disable: disable})
		opts := RunOptions{Engine: engine}
		opts.Load.Once, opts.Load.allLate = true, true
		opts.Load.proofs = keptProofs(map[string][]byte{})
		db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
		if err != nil {
			t.Fatal(err)
		}
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, resultText(t, res))
		var late, read []string
		for _, f := range db.Report().Files {
			late = append(late, f.Late...)
		}
		for _, l := range res.Stats.Late {
			read = append(read, l.Column)
		}
		slices.Sort(late)
		slices.Sort(read)
		gotLate, gotRead := strings.Join(late, " "), strings.Join(read, " ")
		switch {
		case disable != nil && gotLate+gotRead != "":
			t.Errorf("with the step disabled, %s are put off", gotLate)
		case disable == nil && (gotLate != wantLate || gotRead != wantRead):
			t.Errorf("%q are put off and %q read, not %q and %q", gotLate, gotRead, wantLate, wantRead)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("without putting off\n%swith\n%s", texts[0], texts[1])
	}
}
