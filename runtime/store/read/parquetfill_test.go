package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// TestFillFromStatistics loads columns that statistics bound, and compares them
// with those of chunks: plain words and places in dictionaries, of ints and of
// decimals, and with statistics that are wrong.
func TestFillFromStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	schema := store.Schema{Name: "t", Keys: 4}
	schema.Args = []store.Field{{Name: "id", Type: scalar.IntType},
		{Name: "far", Type: scalar.Type{Kind: scalar.Int, Bits: 32}},
		{Name: "price", Type: scalar.DecimalType}, {Name: "few", Type: scalar.IntType}}
	const rows = 150_000
	var words [4][]int64
	for i := range int64(rows) {
		words[0], words[1] = append(words[0], i), append(words[1], rng.Int64N(1<<24)-1<<20)
		words[2] = append(words[2], rng.Int64N(1<<24))
		words[3] = append(words[3], rng.Int64N(300)<<20)
	}
	out := &write.Output{Name: "t", Names: []string{"id", "far", "price", "few"}, Rows: rows, Limit: -1,
		InOrder: true}
	for i, w := range words {
		typ := schema.Args[i].Type
		if i == 1 {
			typ = scalar.IntType // wider than what it is read as
		}
		out.Columns = append(out.Columns, store.ColumnOf(typ, w, nil))
	}
	var data bytes.Buffer
	if err := write.Rows(&data, out, write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(change func(*Source)) *store.Relation {
		t.Helper()
		ctx, facts := context.Background(), []Fact{{Pred: "t", Path: path}}
		b, err := Bind(ctx, []store.Schema{schema}, "", facts, Options{})
		if err != nil {
			t.Fatal(err)
		}
		change(&b.Sources[0])
		db, _, err := Load(ctx, b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return db.Relation("t")
	}
	want := load(func(s *Source) { s.distrusted = true })
	compareColumns(t, "as they are", load(func(*Source) {}), want)
	for column := range 4 {
		compareColumns(t, "with a wrong maximum", load(func(s *Source) {
			groups := slices.Clone(s.footer.Groups)
			last := &groups[len(groups)-1]
			last.Chunks = slices.Clone(last.Chunks)
			meta := *last.Chunks[column].Meta
			stats := *meta.Statistics
			most := binary.LittleEndian.Uint64(stats.Max) - 1
			stats.Max = binary.LittleEndian.AppendUint64(nil, most)
			meta.Statistics, s.footer.Groups = &stats, groups
			last.Chunks[column].Meta = &meta
		}), want)
	}
}

func compareColumns(t *testing.T, how string, got, want *store.Relation) {
	t.Helper()
	for i, c := range want.Columns() {
		g := got.Column(i)
		if g.Stats != c.Stats || g.Width != c.Width || g.Base != c.Base || g.Len() != c.Len() {
			t.Errorf("%s: column %d is %+v of %d bytes, not %+v of %d", how, i, g.Stats, g.Width,
				c.Stats, c.Width)
			continue
		}
		for row := range c.Len() {
			if g.Word(row) != c.Word(row) {
				t.Fatalf("%s: row %d of column %d: %s, not %s", how, row, i,
					scalar.Format(g.Value(row)), scalar.Format(c.Value(row)))
			}
		}
	}
}
