package write

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

func TestFormats(t *testing.T) {
	s := storetest.Predicate(t,
		"p(n:int; price:decimal[18,2]; day:datetime; name:string; ok:boolean; f:float)")
	v := func(t scalar.Type, text string) scalar.Value {
		x, err := scalar.ParseText(t, text)
		if err != nil {
			panic(err)
		}
		return x
	}
	var slices [6][]scalar.Value
	for _, row := range [][]string{
		{"2", "-1.50", "2024-02-29", "tab\tand \\t", "true", "inf"},
		{"10", "1234.00", "1970-01-01T00:00:01.5Z", "日本, \"x\"", "false", "0.1"},
	} {
		for i, text := range row {
			slices[i] = append(slices[i], v(s.Args[i].Type, text))
		}
	}
	r, err := read.FromSlices(s, slices[0], slices[1], slices[2], slices[3], slices[4], slices[5])
	if err != nil {
		t.Fatal(err)
	}
	desc := Of(r)
	desc.Order, desc.Limit = []store.Order{{Col: 0, Desc: true}}, 1
	for _, c := range []struct {
		out    *Output
		format Format
		opts   Options
		want   string
	}{
		{Of(r), TSV, Options{},
			"2\t-1.50\t2024-02-29\ttab\\tand \\\\t\ttrue\tinf\n10\t1234.00\t1970-01-01T00:00:01.500000Z\t日本, \"x\"\tfalse\t0.1\n"},
		{desc, CSV, Options{Header: true},
			"n,price,day,name,ok,f\n10,1234.00,1970-01-01T00:00:01.500000Z,\"日本, \"\"x\"\"\",false,0.1\n"},
		{Of(r), JSON, Options{}, `[
{"n":2,"price":-1.50,"day":"2024-02-29","name":"tab\tand \\t","ok":true,"f":"inf"},
{"n":10,"price":1234.00,"day":"1970-01-01T00:00:01.500000Z","name":"日本, \"x\"","ok":false,"f":0.1}
]
`},
		{Of(r), Table, Options{}, ` n    price  day                          name          ok       f
--  -------  ---------------------------  ------------  -----  ---
 2    -1.50  2024-02-29                   tab\tand \\t  true   inf
10  1234.00  1970-01-01T00:00:01.500000Z  日本, "x"     false  0.1
(2 rows)
`},
	} {
		var b bytes.Buffer
		if err := Rows(&b, c.out, c.format, c.opts); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.format, b.String(), c.want)
		}
	}
}

func TestPrettyTableOfManyRows(t *testing.T) {
	n := 3 * heldRows
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	r, err := read.FromSlices(storetest.Predicate(t, "p(x:int)"), values)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Rows(&b, Of(r), Table, Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != n+3 || lines[2] != "    0" || lines[n+1] != fmt.Sprint(n-1) ||
		lines[n+2] != fmt.Sprintf("(%d rows)", n) {
		t.Errorf("%d lines: %q ... %q", len(lines), lines[2], lines[n+1:])
	}
}

func TestFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.tsv")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := File(path, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("x", 1<<20))
		return boom
	})
	if err != boom {
		t.Errorf("got error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file has %d bytes now", len(got))
	}
	func() {
		defer func() { recover() }()
		File(path, func(io.Writer) error { panic("boom") })
	}()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := File(dir, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was overwritten")
	}
	if err := File(os.DevNull, func(w io.Writer) error {
		_,
			err := io.WriteString(w, "x")
		return err
	}); err != nil {
		t.Error(err)
	}
}

// BenchmarkWrite writes a million sorted pairs in each format.
func BenchmarkWrite(b *testing.B) {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	xs, ys := make([]int, rows), make([]int, rows)
	for i := range xs {
		xs[i], ys[i] = i, rng.IntN(1e6)
	}
	r, err := read.FromSlices(storetest.Predicate(b, "edge(x:int; y:int)"), xs, ys)
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range []Format{TSV, CSV, JSON, Table, Parquet} {
		b.Run(format.String(), func(b *testing.B) {
			var w countingWriter
			for b.Loop() {
				w = 0
				if err := Rows(&w, Of(r), format, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(w))
		})
	}
}

type countingWriter int64

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}
