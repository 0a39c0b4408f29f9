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
	"github.com/redfoxdb/redfox/runtime/store/read"
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
	cols := []*store.Builder{store.NewBuilder(scalar.IntType, nil),
		store.NewBuilder(scalar.IntType, nil)}
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
	if os.Getenv("REDFOX_NONLINEAR") != "" {
		p = parse(b, nonlinear)
	}
	for _, path := range paths {
		db := loadGraph(b, path)
		b.Run(path[strings.LastIndexByte(path, '/')+1:], func(b *testing.B) {
			for b.Loop() {
				begin := time.Now()
				ans, err := New().Run(context.Background(),
					&runtime.Request{Plan: p, Facts: db, Profile: true})
				if err != nil {
					b.Fatal(err)
				}
				rows := ans.Outputs["tc"].Rows()
				b.ReportMetric(float64(rows), "tuples")
				b.ReportMetric(float64(ans.Peak)/float64(rows), "B/tuple")
				total := time.Since(begin)
				for _, c := range ans.Profile {
					if c.Time > time.Millisecond {
						fmt.Printf("  %s/%d %v rows %d kept %d\n", c.Block, c.Command, c.Time,
							c.Rows, c.Kept)
					}
					total -= c.Time
				}
				fmt.Println("  other", total)
			}
		})
	}
}

const lineitem = `
var lineitem(l_orderkey: int, l_linenumber: int; l_quantity: decimal[18,2], l_extendedprice: decimal[18,2], l_discount: decimal[18,2], l_tax: decimal[18,2], l_returnflag: string, l_linestatus: string, l_shipdate: datetime) input "lineitem"
`

// The queries of TPC-H as plans, as the optimiser leaves them.
var queries = map[string]string{
	"Q1": lineitem + `
var q(rf: string, ls: string; qty: decimal[18,2], base: decimal[18,2], disc: decimal[18,4], charge: decimal[18,6], aq: decimal[18,6], ap: decimal[18,6], ad: decimal[18,6], n: int) derived output
block b0:
  insert q
    aggregate [rf, ls] sq: decimal[18,2] = total(qty), sb: decimal[18,2] = total(ep), sd: decimal[18,4] = total(dp), sc: decimal[18,6] = total(ch), aq: decimal[18,6] = avg(qty), ap: decimal[18,6] = avg(ep), ad: decimal[18,6] = avg(d), n: int = count()
      map ch = mul(dp, add(1.00, t))
        map dp = mul(ep, sub(1.00, d))
          filter le(sd, #1998-09-02#)
            scan lineitem(_, _, qty, ep, d, t, rf, ls, sd)
  merge q
  halt
`,
	"Q6": lineitem + `
var q(; revenue: decimal[18,4]) derived output
block b0:
  insert q
    aggregate [] r: decimal[18,4] = total(x)
      map x = mul(ep, d)
        filter and(and(and(ge(sd, #1994-01-01#), lt(sd, #1995-01-01#)), and(ge(d, 0.05), le(d, 0.07))), lt(qty, 24.00))
          scan lineitem(_, _, qty, ep, d, _, _, _, sd)
  merge q
  halt
`,
}

// Groups and keys that are too many for a direct array.
func init() {
	queries["groups"] = lineitem + `
var q(ok: int, s: decimal[18,2]; n: int) derived output
block b0:
  insert q
    aggregate [ok, ep] c: int = count()
      scan lineitem(ok, _, _, ep, _, _, _, _, _)
  merge q
  halt
`
	queries["orders"] = lineitem + `
var q(ok: int; s: decimal[18,2]) derived
var r(; n: int) derived output
block b0:
  insert q
    filter gt(t, 250.00)
      aggregate [ok] t: decimal[18,2] = total(qty)
        scan lineitem(ok, _, qty, _, _, _, _, _, _)
  merge q
  insert r
    aggregate [] n: int = count()
      join ok
        scan lineitem(ok, _, _, _, _, _, _, _, _)
        scan q(ok, _)
  merge r
  halt
`
	queries["hashed"] = lineitem + `
var r(; n: int) derived output
block b0:
  insert r
    aggregate [] n: int = count()
      semi join ok, ep
        scan lineitem(ok, _, _, ep, _, _, _, _, _)
        filter gt(qty, 40.00)
          scan lineitem(ok, _, qty, ep, _, _, _, _, _)
  merge r
  halt
`
}

// BenchmarkQueries runs queries over lineitem.parquet in the folder that
// REDFOX_TPCH names.
func BenchmarkQueries(b *testing.B) {
	dir := os.Getenv("REDFOX_TPCH")
	if dir == "" {
		b.Skip("REDFOX_TPCH names no folder")
	}
	v := parse(b, queries["Q1"]).Vars[0]
	s := store.Schema{Name: v.Name, Keys: v.Keys}
	for _, c := range v.Cols {
		s.Args = append(s.Args, store.Field{Name: c.Name, Type: c.Type})
	}
	binding, err := read.Bind(context.Background(), []store.Schema{s}, "",
		[]read.Fact{{Pred: "lineitem", Path: dir + "/lineitem.parquet"}}, read.Options{})
	if err != nil {
		b.Fatal(err)
	}
	db, _, err := read.Load(context.Background(), binding, read.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"Q1", "Q6", "groups", "orders", "hashed"} {
		p := parse(b, queries[name])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New().Run(context.Background(),
					&runtime.Request{Plan: p, Facts: db}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const counting = `
var n(x: int) derived output
var edge(x: int, y: int) input "edge"
block b0:
  insert n
    values (x: int)
      (0)
  merge n
  branch delta n -> b1 else b2
block b1:
  insert n
    project y as x
      map y = add(x, 1)
        filter lt(x, 100000)
          scan delta n(x)
  merge n
  branch delta n -> b1 else b2
block b2:
  halt
`

const hop = `
var n(x: int) derived output
var edge(x: int, y: int) input "edge"
block b0:
  insert n
    values (x: int)
      (0)
  merge n
  branch delta n -> b1 else b2
block b1:
  insert n
    project y as x
      join x
        scan delta n(x)
        scan edge(x, y)
  merge n
  branch delta n -> b1 else b2
block b2:
  halt
`

const nonlinear = `
var edge(x: int, y: int) input "edge"
var tc(x: int, z: int) derived output
block b0:
  insert tc
    scan edge(x, z)
  merge tc
  branch delta tc -> b1 else b2
block b1:
  insert tc
    project x, z
      join y
        scan delta tc(x, y)
        project x as y, z
          scan tc(x, z)
  insert tc
    project x, z
      join y
        scan delta tc(y, z)
        project x, z as y
          scan old tc(x, z)
  merge tc
  branch delta tc -> b1 else b2
block b2:
  halt
`

// BenchmarkRounds times loops of a hundred thousand rounds of one tuple.
func BenchmarkRounds(b *testing.B) {
	cols := [][]int64{nil, nil}
	for i := range int64(100000) {
		cols[0] = append(cols[0], i)
		cols[1] = append(cols[1], i+1)
	}
	db := store.NewDatabase()
	table := &store.Table{Name: "edge", Names: []string{"x", "y"}, Rows: len(cols[0])}
	for _, c := range cols {
		table.Columns = append(table.Columns, store.ColumnOf(scalar.IntType, c, nil))
	}
	db.Put(&store.Relation{Name: "edge", Table: table, Cols: []int{0, 1}, Keys: 2})
	for _, c := range []struct{ name, plan string }{{"count", counting}, {"chain", hop}} {
		p := parse(b, c.plan)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ans, err := New().Run(context.Background(), &runtime.Request{Plan: p, Facts: db})
				if err != nil || ans.Outputs["n"].Rows() != 100001 {
					b.Fatal(err)
				}
			}
		})
	}
}
