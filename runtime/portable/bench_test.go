package portable

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// loadGraph reads an edge list, source<TAB>target, repeated edges removed.
func loadGraph(t testing.TB, path string) *store.Database {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	cols := []*store.Builder{store.NewBuilder(scalar.IntType, nil), store.NewBuilder(scalar.IntType, nil)}
	seen := map[[2]int64]bool{}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		a, b, _ := strings.Cut(lines.Text(), "\t")
		x, _ := strconv.ParseInt(a, 10, 64)
		y, _ := strconv.ParseInt(b, 10, 64)
		if e := [2]int64{x, y}; !seen[e] {
			seen[e] = true
			cols[0].Append(x)
			cols[1].Append(y)
		}
	}
	table := &store.Table{Name: "edge", Names: []string{"x", "y"}, Rows: len(seen)}
	for _, b := range cols {
		table.Columns = append(table.Columns, b.Finish())
	}
	db := store.NewDatabase()
	db.Put(&store.Relation{Name: "edge", Table: table, Cols: []int{0, 1}, Keys: 2})
	return db
}

// BenchmarkClosure computes the transitive closure of the graphs that
// REDFOX_GRAPHS names, a list of paths to gzipped edge lists.
func BenchmarkClosure(b *testing.B) {
	paths := strings.Fields(os.Getenv("REDFOX_GRAPHS"))
	if len(paths) == 0 {
		b.Skip("REDFOX_GRAPHS names no graphs")
	}
	p := parse(b, closure)
	for _, path := range paths {
		db := loadGraph(b, path)
		b.Run(path[strings.LastIndexByte(path, '/')+1:], func(b *testing.B) {
			for b.Loop() {
				begin := time.Now()
				ans, err := New().Run(context.Background(), &runtime.Request{Plan: p, Facts: db, Profile: true})
				if err != nil {
					b.Fatal(err)
				}
				rows := ans.Outputs["tc"].Rows()
				b.ReportMetric(float64(rows), "tuples")
				b.ReportMetric(float64(ans.Peak)/float64(rows), "B/tuple")
				total := time.Since(begin)
				for _, c := range ans.Profile {
					if c.Time > time.Millisecond {
						fmt.Printf("  %s/%d %v rows %d kept %d\n", c.Block, c.Command, c.Time, c.Rows, c.Kept)
					}
					total -= c.Time
				}
				fmt.Println("  other", total)
			}
		})
	}
}
