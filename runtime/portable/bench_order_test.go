package portable

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

const sale = `
var sale(id: int, shop: int, price: float, note: string) input "sale"
`

// Orderings of a million tuples: their results are folded to one number, so
// that the time is that of the ordering.
var orderings = []struct{ name, plan string }{
	{"seq", sale + `
var q(; n: int) derived output
block b0:
  insert q
    aggregate [] n: int = max(i)
      seq i group [shop] order [price]
        scan sale(id, shop, price, _)
  merge q
  halt
`},
	{"seq of all", sale + `
var q(; n: int) derived output
block b0:
  insert q
    aggregate [] n: int = max(i)
      seq i order [note, id]
        scan sale(id, _, _, note)
  merge q
  halt
`},
	{"first", sale + `
var q(; n: int) derived output
block b0:
  insert q
    aggregate [] n: int = max(id)
      topk 10 order [price desc, id]
        scan sale(id, shop, price, note)
  merge q
  halt
`},
	{"first of groups", sale + `
var q(; n: int) derived output
block b0:
  insert q
    aggregate [] n: int = max(id)
      topk 10 group [shop] order [price desc, id]
        scan sale(id, shop, price, note)
  merge q
  halt
`},
	{"first of grown", sale + `
var q(; n: int) derived output
block b0:
  insert q
    aggregate [] n: int = max(id)
      topk 10 order [s desc, id]
        map s = add(note, "x")
          scan sale(id, _, _, note)
  merge q
  halt
`},
	{"check", sale + `
var q(; n: int) derived output
block b0:
  check "no sale"
    scan sale(id, shop, price, note)
  halt
`},
}

func BenchmarkOrderings(b *testing.B) {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	cols := []*store.Builder{store.NewBuilder(scalar.IntType, nil),
		store.NewBuilder(scalar.IntType, nil),
		store.NewBuilder(scalar.FloatType, nil), store.NewBuilder(scalar.StringType, nil)}
	for i := range int64(rows) {
		cols[0].Append(i * 7919 % rows)
		cols[1].Append(rng.Int64N(1000))
		cols[2].AppendValue(scalar.OfFloat(scalar.FloatType, rng.NormFloat64()))
		cols[3].AppendString(string([]byte{'a' + byte(rng.IntN(26)), 'a' + byte(rng.IntN(26)),
			'a' + byte(rng.IntN(26))}))
	}
	table := &store.Table{Name: "sale", Names: []string{"id", "shop", "price", "note"}, Rows: rows}
	for _, c := range cols {
		table.Columns = append(table.Columns, c.Finish())
	}
	db := store.NewDatabase()
	db.Put(&store.Relation{Name: "sale", Table: table, Cols: []int{0, 1, 2, 3}, Keys: 4})
	for _, o := range orderings {
		p := parse(b, o.plan)
		b.Run(o.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New().Run(context.Background(),
					&runtime.Request{Plan: p, Facts: db, MaxViolations: 10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
