package driver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// sales has outputs that look at no key, at a part of it, and at all of it.
const sales = `item:price[o, n] = p -> int(o), int(n), int(p).
item:tax[o, n] = t -> int(o), int(n), int(t).
customer[o] = c -> int(o), string(c).
total[] = s -> int(s).
total[] = s <- agg<<s = total(x)>> item:price[o, n] = p, item:tax[o, n] = t, x = p * t.
by[c] = s -> string(c), int(s).
by[c] = s <- agg<<s = total(p)>> item:price[o, n] = p, customer[o] = c.
low[] = s -> int(s).
low[] = s <- agg<<s = total(p)>> item:price[o, n] = p, item:tax[o, n] = t, t < 3.
last[] = m -> int(m).
last[] = m <- agg<<m = max(n)>> item:tax[_, n] = _.
`

// writeParquet writes a file of columns of ints; rows must be in order.
func writeParquet(t *testing.T, path string, names []string, columns ...[]int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := &write.Output{Name: "t", Names: names, Rows: len(columns[0]), Limit: -1, InOrder: true}
	for _, words := range columns {
		out.Columns = append(out.Columns, store.ColumnOf(scalar.IntType, words, nil))
	}
	if err := write.Rows(f, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
}

func writeSales(t *testing.T, dir string) {
	t.Helper()
	var o, n, p, x []int64
	for i := range int64(60) {
		o, n, p, x = append(o, i/4), append(n, i%4), append(p, i*i), append(x, 1+i%5)
	}
	writeParquet(t, filepath.Join(dir, "item.parquet"), []string{"o", "n", "p", "t"}, o, n, p, x)
	text := ""
	for i := range 15 {
		text += fmt.Sprintf("%d\t%c\n", i, 'a'+i%3)
	}
	if err := os.WriteFile(filepath.Join(dir, "customer.tsv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keptProofs keeps proofs in memory, and takes any file of a path for the same.
func keptProofs(kept map[string][]byte) read.Proofs {
	return read.Proofs{
		Identity: func(fs.FileInfo) string { return "the file" },
		Get:      func(key string) ([]byte, bool) { p, ok := kept[key]; return p, ok },
		Put:      func(key string, proof []byte) { kept[key] = proof },
	}
}

// TestLoadedOnce runs outputs over facts of which keys are left out, with the
// outputs that they were loaded for and with others, and without the step.
func TestLoadedOnce(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	writeSales(t, dir)
	want := map[string]string{"total": "[[217710]]", "last": "[[3]]", "low": "[[25972]]",
		"by": "[[a 18790] [b 23190] [c 28230]]"}
	left := map[string][]string{"total": {"o", "n"}, "last": {"o"}, "by": {"n"},
		"low": {"o", "n"}}
	onEngines(t, func(t *testing.T, engine string) {
		for out := range want {
			for _, disable := range [][]string{nil, {leaveKeys, selectRows}} {
				load := LoadOptions{Once: true, proofs: keptProofs(map[string][]byte{})}
				prog := compileText(t, sales, Options{Disable: disable})
				for run := range 2 {
					opts := RunOptions{Engine: engine, Outputs: []string{out}, Load: load}
					db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
					if err != nil {
						t.Fatal(err)
					}
					var without []string
					item := slices.IndexFunc(db.Report().Files,
						func(f read.FileReport) bool { return filepath.Base(f.File) == "item.parquet" })
					if f := db.Report().Files[item]; f.Selected != (out == "low" &&
						disable == nil) || f.Selected && f.Kept != 24 {
						t.Errorf("run %d of %s, %v: %d rows of %d", run, out, disable, f.Kept, f.Rows)
					}
					for _, f := range db.Report().Files {
						without = append(without, f.Left...)
					}
					// The load that selects rows proves the keys itself.
					leaves := disable == nil && (run > 0 || out == "low")
					if leaves != slices.Equal(without, left[out]) {
						t.Errorf("run %d of %s, %v: without %v", run, out, disable, without)
					}
					for other := range want {
						if out != other && run == 0 {
							continue
						}
						opts.Outputs = []string{other}
						res, err := prog.RunOn(ctx, db, opts)
						if err != nil {
							t.Fatalf("%s over facts for %s: %v", other, out, err)
						}
						if got := fmt.Sprint(slices.Collect(res.Rows(other))); got != want[other] {
							t.Errorf("%s over facts for %s: %s, want %s", other, out, got,
								want[other])
						}
					}
				}
			}
		}
	})
}
