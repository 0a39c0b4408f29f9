package read

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

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
