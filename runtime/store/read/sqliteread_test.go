package read

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/internal/sqlite"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// database makes a database with a table of values of every type, and a second
// one.
func database(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := sqlite.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	table := func(name string, columns []sqlite.Column, rows ...[]driver.Value) {
		add, end, err := w.Table(name, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := add(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	table("sale", []sqlite.Column{{Name: "id", Type: "INTEGER"},
		{Name: "price", Type: "DECIMAL(10,2)"}, {Name: "day", Type: "DATETIME"},
		{Name: "note", Type: "TEXT"}, {Name: "paid", Type: "BOOLEAN"},
		{Name: "any", Type: ""}},
		[]driver.Value{int64(1), 2.5, "2024-01-02", "a", int64(1), int64(7)},
		[]driver.Value{int64(2), nil, "2024-01-02 10:30:00", "", int64(0), "seven"},
		[]driver.Value{int64(3), int64(3), "2024-01-03", nil, int64(1), 7.25})
	table("stores", []sqlite.Column{{Name: "id", Type: "INT"}, {Name: "name", Type: "TEXT"}},
		[]driver.Value{int64(1), "north"}, []driver.Value{int64(2), "south"})
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSQLiteTables binds the tables of a database as files of a folder.
func TestSQLiteTables(t *testing.T) {
	path := database(t)
	want := map[string]string{
		"sale:price[id:int]=v:decimal[18,2]": "1 2.50; 3 3.00",
		"sale:day[id:int]=v:datetime":        "1 #2024-01-02#; 2 #2024-01-02T10:30:00Z#; 3 #2024-01-03#",
		"sale:note[id:int]=v:string":         `1 "a"; 2 ""`,
		"sale:paid[id:int]=v:boolean":        "1 true; 2 false; 3 true",
		"stores(id:int; name:string)":        `1 "north"; 2 "south"`,
	}
	var schemas []store.Schema
	for pred := range want {
		schemas = append(schemas, storetest.Predicate(t, pred))
	}
	b, err := Bind(context.Background(), schemas, path, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, report, err := Load(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pred, tuples := range want {
		name, _, _ := strings.Cut(strings.NewReplacer("[", "(").Replace(pred), "(")
		if got := strings.Join(sortedTuples(db.Relation(name)), "; "); got != tuples {
			t.Errorf("%s: %s", pred, got)
		}
	}
	if len(report.Files) != 2 || len(report.Notes) > 0 {
		t.Errorf("report %+v", report)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Predicate(t, "stores(id:int; name:string)")
	for name, f := range map[string]Fact{
		"by name": {Path: path, Table: "stores"},
		"by pred": {Path: path},
		"a reader": {Path: "<stdin>", Sniff: true,
			Reader: struct{ *bytes.Buffer }{bytes.NewBuffer(data)}},
	} {
		f.Pred = "stores"
		if r, err := tryLoad(s, f, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := strings.Join(sortedTuples(r), "; "); got != `1 "north"; 2 "south"` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSQLiteRefused(t *testing.T) {
	path := database(t)
	text := filepath.Join(filepath.Dir(path), "text.sqlite")
	if err := os.WriteFile(text, []byte("id,name\n1,x\n2,yyyyy\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pred, fact string
		says       string
	}{
		{"p(id:int; price:decimal[18,2])", path + "#sale",
			"row 2: column 2 (price): the value is missing (NULL)"},
		{"p(id:int; any:int)", path + "#sale", `row 2: column 6 (any): "seven" is not an int`},
		{"p(id:int; any:string)", path + "#sale", "row 1: column 6 (any): found the integer 7"},
		{"p(id:int; day:int)", path + "#sale", "2024-01-02"},
		{"p(paid:string)", path + "#sale", "found the integer 1, expected a string"},
		{"p(id:int)", path + "#sales", "did you mean " + path + "#sale?"},
		{"p(id:int)", path, "--fact p=" + path + "#TABLE"},
		{"p(id:int; x:int)", path + "#sale", "there is no column x for p"},
		{"p(id:int)", text, "this is text, not an SQLite database"},
		{"p(id:int)", "csv:" + path, "--fact PRED=sqlite:FILE#TABLE"},
	} {
		f, err := ParseFact("p=" + c.fact)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tryLoad(storetest.Predicate(t, c.pred), f, Options{})
		var le *LoadError
		said := ""
		if err != nil {
			said = err.Error()
		}
		if errors.As(err, &le) {
			said += "; " + le.Help
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%s of %s: %s", c.pred, c.fact, said)
		}
	}
}

// TestDatabasesReadBack writes relations of every type as tables.
func TestDatabasesReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	for round := range short.Count(t, 80, "relations") {
		s, r := randomRelation(t, rng, rng.IntN(30))
		if len(s.Args) == 0 {
			continue
		}
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		err := write.Database(context.Background(), path, []write.DatabaseTable{{Name: s.Name,
			Rows: func(to func(*write.Output) error) error { return to(write.Of(r)) }}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := tryLoad(s, Fact{Pred: s.Name, Path: path, Table: s.Name}, Options{})
		if err != nil {
			t.Fatalf("round %d, %v: %v", round, s.Args, err)
		}
		if got, want := sortedTuples(back), sortedTuples(r); !slices.Equal(got, want) {
			t.Fatalf("round %d, %v: read back\n%q\nwant\n%q", round, s.Args, got, want)
		}
	}
}
