package read

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

func WriteFile(t testing.TB, dir, name, content string) string {
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
	WriteFile(t, dir, "edge.tsv", "1\t2\n2\t3\n1\t2\n\n")
	WriteFile(t, dir, "name.csv", "1,\"a, \"\"b\"\"\"\n2,\"two\nlines\"\r\n")
	WriteFile(t, dir, "a/b.tsv", "x\\ty\nx")
	WriteFile(t, dir, "other.tsv", "1\n")
	WriteFile(t, dir, "all_paths.tsv", "1\t2\n")
	WriteFile(t, dir, "parts.csv/.done", "")
	schemas := []store.Schema{
		storetest.Predicate(t, "edge(x:int; y:int)"),
		storetest.Predicate(t, "name[x:int]=s:string"),
		storetest.Predicate(t, "a:b(s:string)"), storetest.Predicate(t, "none(x:int)"),
		storetest.Predicate(t, "parts(x:int)"),
	}
	for _, block := range []int{1, 3, 1 << 20} {
		opts := Options{blockSize: block, Derived: []string{"all:paths"}}
		b, err := Bind(context.Background(), schemas, dir, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		db, report, err := Load(context.Background(), b, opts)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, r := range db.Relations() {
			fmt.Fprintf(&got, "%s: %s\n", r.Name, strings.Join(storetest.Tuples(r), "; "))
		}
		for _, n := range report.Notes {
			fmt.Fprintln(&got, strings.ReplaceAll(n, dir, "DIR"))
		}
		want := `edge: 1 2; 2 3
name: 1 "a, \"b\""; 2 "two\nlines"
a:b: "x\ty"; "x"
none: ` + `
parts: ` + `
not used, because rules derive the predicate of the name: DIR/all_paths.tsv
not used, for want of a predicate of the name: DIR/other.tsv
none has no file of facts; it is empty
parts has no file of facts; it is empty; bind the folder as --fact parts=DIR/parts.csv
`
		if got.String() != want {
			t.Errorf("block %d: got\n%swant\n%s", block, got.String(), want)
		}
	}
}

// TestLoadingOrder has the file with the most strings read first, and reported
// where it stands.
func TestLoadingOrder(t *testing.T) {
	dir := t.TempDir()
	schemas := []store.Schema{storetest.Predicate(t, "a(x:int; s:string)"),
		storetest.Predicate(t, "b(x:int; s:int)"), storetest.Predicate(t, "c(x:int; s:string)")}
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
		out := write.Of(r)
		out.Names = []string{"x", "s"}
		if err := write.File(filepath.Join(dir, s.Name+".parquet"),
			func(w io.Writer) error {
				return write.Rows(w, out, write.Parquet,
					write.Options{})
			}); err != nil {
			t.Fatal(err)
		}
	}
	var began []string
	opts := Options{Progress: func(p Progress) {
		if name := filepath.Base(p.File); len(began) == 0 || began[len(began)-1] != name {
			began = append(began, name)
		}
	}}
	b, err := Bind(context.Background(), schemas, dir, nil, opts)
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
