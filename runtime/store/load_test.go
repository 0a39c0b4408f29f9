package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// wordsOfType returns the types of the columns of a type.
func wordsOfType(t scalar.Type) []scalar.Type {
	if !t.IsWide() {
		return []scalar.Type{t}
	}
	return []scalar.Type{t.WordOf(scalar.High), t.WordOf(scalar.Low)}
}

// predicate is a schema from "name(x:int, y:string)" or "name[x:int]=v:float".
func predicate(t testing.TB, text string) Schema {
	t.Helper()
	name, rest, _ := strings.Cut(text, "(")
	s := Schema{}
	var keys, values string
	if rest != "" {
		keys = strings.TrimSuffix(rest, ")")
	} else {
		name, rest, _ = strings.Cut(text, "[")
		// Types may have brackets, too: the keys end at "]=".
		keys, values, _ = strings.Cut(rest, "]=")
	}
	s.Name = name
	args := func(list string) (n int) {
		if list == "" {
			return 0
		}
		for _, a := range strings.Split(list, "; ") {
			arg, typ, _ := strings.Cut(a, ":")
			parsed, ok := scalar.ParseType(typ)
			if !ok {
				t.Fatalf("%s: no type %q", text, typ)
			}
			words := wordsOfType(parsed)
			for _, t := range words {
				s.Args = append(s.Args, Field{Name: arg, Type: t})
			}
			n += len(words)
		}
		return n
	}
	s.Keys = args(keys)
	args(values)
	return s
}

// tuples renders a relation's tuples in their order.
func tuples(r *Relation) []string {
	out := make([]string, r.Rows())
	for i := range out {
		var row []scalar.Value
		for c := range r.Cols {
			row = append(row, r.Column(c).Value(i))
		}
		var cells []string
		for _, v := range scalar.JoinedRow(row) {
			cells = append(cells, scalar.Literal(v))
		}
		out[i] = strings.Join(cells, " ")
	}
	return out
}

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "edge.tsv", "1\t2\n2\t3\n1\t2\n\n")
	write(t, dir, "name.csv", "1,\"a, \"\"b\"\"\"\n2,\"two\nlines\"\r\n")
	write(t, dir, "a/b.tsv", "x\\ty\nx")
	write(t, dir, "other.tsv", "1\n")
	schemas := []Schema{
		predicate(t, "edge(x:int; y:int)"), predicate(t, "name[x:int]=s:string"),
		predicate(t, "a:b(s:string)"), predicate(t, "none(x:int)"),
	}
	for _, block := range []int{1, 3, 1 << 20} {
		opts := Options{blockSize: block}
		b, err := Bind(schemas, dir, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		db, report, err := Load(context.Background(), b, opts)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, r := range db.Relations() {
			fmt.Fprintf(&got, "%s: %s\n", r.Name, strings.Join(tuples(r), "; "))
		}
		for _, n := range report.Notes {
			fmt.Fprintln(&got, strings.ReplaceAll(n, dir, "DIR"))
		}
		want := `edge: 1 2; 2 3
name: 1 "a, \"b\""; 2 "two\nlines"
a:b: "x\ty"; "x"
none: ` + `
not used, for want of a predicate of the name: DIR/other.tsv
none has no file of facts; it is empty
`
		if got.String() != want {
			t.Errorf("block %d: got\n%swant\n%s", block, got.String(), want)
		}
	}
}

// TestLoadingOrder has the file with the most strings read first, and reported where it
// stands.
func TestLoadingOrder(t *testing.T) {
	dir := t.TempDir()
	schemas := []Schema{predicate(t, "a(x:int; s:string)"), predicate(t, "b(x:int; s:int)"), predicate(t, "c(x:int; s:string)")}
	for i, s := range schemas {
		rows := 100 * (i + 1)
		xs, names := make([]int64, rows), make([]string, rows)
		for j := range rows {
			xs[j], names[j] = int64(j), fmt.Sprint("name ", j)
		}
		slices := []any{xs, names}
		if s.Name == "b" {
			slices[1] = xs
		}
		r, err := FromSlices(s, slices...)
		if err != nil {
			t.Fatal(err)
		}
		out := OutputOf(r)
		out.Names = []string{"x", "s"}
		if err := WriteFile(filepath.Join(dir, s.Name+".parquet"), func(w io.Writer) error { return Write(w, out, OutputParquet, WriteOptions{}) }); err != nil {
			t.Fatal(err)
		}
	}
	var began []string
	opts := Options{Progress: func(p Progress) {
		if name := filepath.Base(p.File); len(began) == 0 || began[len(began)-1] != name {
			began = append(began, name)
		}
	}}
	b, err := Bind(schemas, dir, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	_, report, err := Load(context.Background(), b, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(began, " "); got != "c.parquet a.parquet b.parquet" {
		t.Errorf("read in the order %s", got)
	}
	for i, f := range report.Files {
		if filepath.Base(f.File) != schemas[i].Name+".parquet" || f.Rows != int64(100*(i+1)) {
			t.Errorf("file %d is %s, of %d rows", i, f.File, f.Rows)
		}
	}
}
