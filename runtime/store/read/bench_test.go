package read

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/klauspost/compress/gzip"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// edges is a TSV of pairs of numbers below a million, of about size bytes.
func edges(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "%d\t%d\n", rng.IntN(1e6), rng.IntN(1e6))
	}
	return b.Bytes()
}

// BenchmarkLoadTSV reads 50 MB of pairs of integers, duplicates removed.
func BenchmarkLoadTSV(b *testing.B) {
	plain := edges(50 << 20)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(plain)
	z.Close()
	for _, c := range []struct {
		name    string
		data    []byte
		threads int
	}{{"plain/threads=1", plain, 1}, {"plain/threads=2", plain, 2},
		{"gzip/threads=2", packed.Bytes(), 2}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				loadReader(b, storetest.Predicate(b, "edge(x:int; y:int)"),
					Fact{Reader: bytes.NewReader(c.data)}, Options{Threads: c.threads})
			}
		})
	}
}

func loadReader(t testing.TB, s store.Schema, f Fact, opts Options) *store.Relation {
	t.Helper()
	f.Pred = s.Name
	if f.Path == "" {
		f.Path = "reader"
	}
	b, err := Bind(context.Background(), []store.Schema{s}, "", []Fact{f}, opts)
	if err != nil {
		t.Fatal(err)
	}
	db, _, err := Load(context.Background(), b, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db.Relation(s.Name)
}

// BenchmarkLoadParquet reads the seven columns of TPC-H's first query from the
// file that REDFOX_LINEITEM names.
func BenchmarkLoadParquet(b *testing.B) {
	path := os.Getenv("REDFOX_LINEITEM")
	if path == "" {
		b.Skip("REDFOX_LINEITEM names no file")
	}
	var schemas []store.Schema
	for _, v := range []string{"quantity]=v:decimal[15,2]", "extendedprice]=v:decimal[15,2]",
		"discount]=v:decimal[15,2]",
		"tax]=v:decimal[15,2]", "returnflag]=v:string", "linestatus]=v:string",
		"shipdate]=v:datetime"} {
		name, rest, _ := bytes.Cut([]byte(v), []byte("]"))
		schemas = append(schemas, storetest.Predicate(b,
			fmt.Sprintf("lineitem:%s[l_orderkey:int; l_linenumber:int]%s", name, rest[0:])))
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				opts := Options{Threads: threads}
				binding, err := Bind(context.Background(), schemas, "",
					[]Fact{{Pred: "lineitem", Path: path}}, opts)
				if err != nil {
					b.Fatal(err)
				}
				if len(binding.Notes) > 0 {
					b.Fatal(binding.Notes)
				}
				if _, _, err := Load(context.Background(), binding, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncoded compares what the host does with the pages of columns that a
// GPU decodes, on one core, with decoding them. Bytes are those of PLAIN
// values.
func BenchmarkEncoded(b *testing.B) {
	const rows = 500_000
	ctx := context.Background()
	for _, codec := range encodedCodecs {
		for _, kind := range []string{"plain", "places", "differences"} {
			props := []parquet.WriterProperty{parquet.WithCompression(codec),
				parquet.WithDictionaryDefault(kind == "places")}
			distinct := 100_000
			switch kind {
			case "places":
				distinct = 1000
			case "differences":
				props = append(props, encodings...)
			}
			rng := rand.New(rand.NewPCG(3, 1))
			path := WriteFile(b, b.TempDir(), "t.parquet", string(writeEncoded(b, rng, rows,
				rows/4, distinct, parquet.Repetitions.Required, props...)))
			db, _, err := loadEncoded(b, path, encodedSchemas(b)[3:4], true)
			if err != nil {
				b.Fatal(err)
			}
			column := db.Relation("t:price").Column(1)
			pages := column.Encoded.(*encodedColumn)
			pages.file.opts.Threads = 1
			name := fmt.Sprintf("%v/%s", codec, kind)
			b.Run("read/"+name, func(b *testing.B) {
				b.SetBytes(8 * rows)
				var list store.EncodedPages
				dst := make([]byte, pages.chunks[0].Bytes*2)
				for b.Loop() {
					for i, c := range pages.chunks {
						if err := pages.Read(ctx, i, dst[:c.Bytes], &list); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run("decode/"+name, func(b *testing.B) {
				b.SetBytes(8 * rows)
				dst := make([]byte, column.Bytes())
				for b.Loop() {
					if err := pages.Decode(ctx, 1, dst); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
