package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// damaged are the files that TestDamage changes: what redfox writes, in each
// format.
func damaged(t *testing.T, r *store.Relation) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for format := range readAs {
		for _, end := range []string{"", ".gz", ".zst"} {
			name := "p." + format.String() + end
			if end != "" && format != write.CSV {
				continue
			}
			var b bytes.Buffer
			err := write.Compressed(&b, name, func(w io.Writer) error {
				return write.Rows(w, write.Of(r), format, write.Options{Header: true})
			})
			if err != nil {
				t.Fatal(err)
			}
			out[name] = b.Bytes()
		}
	}
	path := filepath.Join(t.TempDir(), "p.sqlite")
	err := os.WriteFile(path, nil, 0o666)
	if err == nil {
		err = write.Database(context.Background(), path, []write.DatabaseTable{{Name: "p",
			Rows: func(to func(*write.Output) error) error { return to(write.Of(r)) }}})
	}
	if err == nil {
		out["p.sqlite"], err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// mutate changes some bytes of a file, moves a part of it, or cuts it short.
func mutate(rng *rand.Rand, whole []byte) []byte {
	data := slices.Clone(whole)
	for range 1 + rng.IntN(4) {
		if len(data) < 2 {
			return data
		}
		at := rng.IntN(len(data))
		n := min(len(data)-at, 1+rng.IntN(16))
		switch rng.IntN(10) {
		case 0:
			data = data[:at]
		case 1:
			data = slices.Delete(data, at, at+n)
		case 2:
			data = slices.Insert(data, rng.IntN(len(data)), slices.Clone(data[at:at+n])...)
		case 3:
			copy(data[rng.IntN(len(data)):], slices.Clone(data[at:at+n]))
		case 4:
			data[at] ^= 1 << rng.IntN(8)
		case 5: // lengths that are far off
			copy(data[at:], []byte{0xff, 0xff, 0xff, 0x7f})
		default:
			data[at] = byte(rng.Uint32())
		}
	}
	return data
}

// TestDamage changes files at random: 100,000 times each with every case. They
// must load, perhaps with other values, or be refused, without a panic and
// within a bound of memory. A file whose bytes have a checksum must not load as
// other facts, unless nothing is left of it. Pages of Parquet and SQLite, and
// the records of Arrow, have none.
func TestDamage(t *testing.T) {
	s := storetest.Predicate(t, everyType)
	var rows bytes.Buffer
	for i := range 12 {
		fmt.Fprintf(&rows, "%d\t%d\t%d\t%v\t%v\t19%02d-09-02\t%d.25\t%d.5\tname %d\n", i*7919, i, i%100,
			float64(i)/8, i%2 == 0, 10+i, i, i*i, i%7)
	}
	r := loadBytes(t, s, Fact{Reader: &rows, Format: TSV}, Options{})
	if r == nil {
		t.Fatal("the rows do not load")
	}
	want := sortedTuples(r)
	count := 400
	if short.EveryMutation() {
		count = 100_000
	}
	count = int(short.Count(t, uint64(count), "damaged files of each format"))
	files := damaged(t, r)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		rng, whole := rand.New(rand.NewPCG(8, uint64(i))), files[name]
		t.Run(name, func(t *testing.T) {
			checked := strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
			header := true
			load := func(data []byte) *store.Relation {
				f := Fact{Reader: bytes.NewReader(data), Format: formatOf(name)}
				if f.Format.isText() && f.Format != JSON {
					f.Header = &header
				}
				return loadBytes(t, s, f, Options{Threads: 1 + len(data)%2})
			}
			if back := load(whole); back == nil || !slices.Equal(sortedTuples(back), want) {
				t.Fatal("the whole file does not load")
			}
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			loaded := 0
			for range count {
				data := mutate(rng, whole)
				back := load(data)
				if back != nil {
					loaded++
				}
				if checked && len(data) > 0 && back != nil &&
					!slices.Equal(sortedTuples(back), want) {
					t.Fatalf("%q loads as other facts", data)
				}
			}
			goruntime.ReadMemStats(&after)
			// Decoders of zstd and Parquet begin with some megabytes each.
			const most = 24 << 20
			if each := (after.TotalAlloc - before.TotalAlloc) / uint64(count); each > most {
				t.Errorf("a load allocates %d MB", each>>20)
			}
			t.Logf("%d of %d damaged files load", loaded, count)
		})
	}
}

// TestDamageOfSelected changes Parquet files with page indexes and with Bloom
// filters at random, and loads them as plans do: rows that pass a comparison,
// and strings only for some of them. The rows that load pass, and nothing
// panics.
func TestDamageOfSelected(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	schemas := []store.Schema{storetest.Predicate(t, "t:n[id:int]=n:int"),
		storetest.Predicate(t, "t:name[id:int]=name:string")}
	count := 400
	if short.EveryMutation() {
		count = 100_000
	}
	count = int(short.Count(t, uint64(count), "damaged files of each kind"))
	for i, name := range append(pageFiles(t), bloomFiles(t)...) {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		number, equal := "n", int64(2007)
		if i >= 2 {
			number, equal = "num", 7
		}
		schemas[0] = storetest.Predicate(t, "t:"+number+"[id:int]="+number+":int")
		test := &Test{Range: true, Least: equal, Most: equal,
			Equal: []scalar.Value{scalar.OfInt(scalar.IntType, equal)}}
		rng, loaded := rand.New(rand.NewPCG(9, uint64(i))), 0
		for range count {
			path := WriteFile(t, dir, "t.parquet", string(mutate(rng, whole)))
			b, err := Bind(ctx, schemas, "", []Fact{{Pred: "t", Path: path}}, Options{})
			if err != nil {
				continue
			}
			b.Ask(func(pred string, arg int) *Test {
				if pred != schemas[0].Name || arg == 0 {
					return nil
				}
				return test
			})
			b.Show(0, func(string, int) bool { return true })
			db, report, err := Load(ctx, b, Options{Threads: 1 + i%2})
			if err != nil {
				continue
			}
			loaded++
			numbers := db.Relation(schemas[0].Name).Column(1)
			for row := range numbers.Len() {
				if report.Files[0].Selected && numbers.Word(row) != equal {
					t.Fatalf("%s: row %d has %d", name, row, numbers.Word(row))
				}
			}
			if names := db.Relation("t:name").Column(1); names.Late != nil && names.Len() > 0 {
				rows := []uint32{uint32(names.Word(0))}
				if c, _, err := names.Late.ReadRows(ctx, 1, rows); err == nil && c.Len() != 1 {
					t.Fatalf("%s: %d strings of one row", name, c.Len())
				}
			}
		}
		t.Logf("%d of %d damaged files of %s load", loaded, count, name)
	}
}

func FuzzSQLite(f *testing.F) {
	data, err := os.ReadFile(database(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		loadBytes(t, storetest.Predicate(t, "stores(id:int; name:string)"),
			Fact{Reader: bytes.NewReader(data), Format: SQLite}, Options{})
	})
}
