package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// randomRelation returns a set of tuples of random types; with columns beyond 64
// bits, many rows, or none.
func randomRelation(t testing.TB, rng *rand.Rand, rows int) (Schema, *Relation) {
	s := Schema{Name: "p"}
	var cols []*Column
	for i := range rng.IntN(5) {
		if rng.IntN(6) == 0 {
			high, low := randomWide(rng, uint8(rng.IntN(scalar.MaxWideScale+1)), rows)
			for _, c := range []*Column{high, low} {
				s.Args = append(s.Args, Field{Name: fmt.Sprintf("x%d", i), Type: c.Type})
				cols = append(cols, c)
			}
			continue
		}
		typ := allTypes[rng.IntN(len(allTypes))]
		s.Args = append(s.Args, Field{Name: fmt.Sprintf("x%d", i), Type: typ})
		col, _ := randomColumn(rng, typ, rows)
		cols = append(cols, col)
	}
	s.Keys = len(s.Args)
	if len(cols) == 0 {
		rows = rng.IntN(2)
	}
	r, err := newRelation(s, cols, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// randomWide returns the columns of wide decimals of up to 38 digits, many of them of few.
func randomWide(rng *rand.Rand, scale uint8, rows int) (high, low *Column) {
	t := scalar.WideDecimalOf(scale)
	words := [2][]int64{make([]int64, rows), make([]int64, rows)}
	digits := 1 + rng.IntN(scalar.MaxWideScale)
	for i := range rows {
		n, _ := scalar.Int128{Hi: int64(rng.Uint64()), Lo: rng.Uint64()}.Quo(scalar.Pow10(scalar.MaxWideScale + 1 - max(1, digits-rng.IntN(3))))
		h, l := scalar.OfInt128(t, n).Words()
		words[0][i], words[1][i] = h.Int(), l.Int()
	}
	return ColumnOf(t.WordOf(scalar.High), words[0], nil), ColumnOf(t.WordOf(scalar.Low), words[1], nil)
}

// sortedTuples renders a relation as a set.
func sortedTuples(r *Relation) []string {
	out := tuples(r)
	slices.Sort(out)
	return out
}

func TestWrittenFilesReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	for round := range 80 {
		rows := rng.IntN(30)
		if round%40 == 0 {
			rows = 5000
		}
		s, r := randomRelation(t, rng, rows)
		for _, name := range []string{"p.tsv", "p.csv", "p.parquet", "p.tsv.gz", "p.csv.zst"} {
			path := filepath.Join(dir, name)
			format := map[Format]OutputFormat{TSV: OutputTSV, CSV: OutputCSV, Parquet: OutputParquet}[formatOf(name)]
			o := WriteOptions{Header: rng.IntN(2) == 0}
			if format == OutputCSV {
				o.Delimiter = []byte{0, '|', ';', '\t'}[rng.IntN(4)]
			}
			if len(s.Args) == 0 {
				o.Header = false
			}
			if err := WriteFile(path, func(w io.Writer) error { return Write(w, OutputOf(r), format, o) }); err != nil {
				t.Fatal(err)
			}
			first, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{blockSize: []int{0, 1, 7, 64}[rng.IntN(4)], Threads: 1 + rng.IntN(3)}
			back := loadReader(t, s, Fact{Path: path, Header: &o.Header, Delimiter: o.Delimiter}, opts)
			got, want := sortedTuples(back), sortedTuples(r)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %s (%v, %v): read back\n%q\nwant\n%q\nfile\n%q", round, name, s.Args, o, got, want, first)
			}
			var again bytes.Buffer
			if err := Write(&again, OutputOf(back), format, o); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "z") && !strings.HasSuffix(name, "st") && !bytes.Equal(first, again.Bytes()) {
				t.Fatalf("round %d, %s: written again, the file differs:\n%q\n%q", round, name, first, again.Bytes())
			}
		}
	}
}

func TestJSONIsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		s, r := randomRelation(t, rng, rng.IntN(20))
		var b bytes.Buffer
		if err := Write(&b, OutputOf(r), OutputJSON, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(&b)
		dec.UseNumber()
		var rows []map[string]any
		if err := dec.Decode(&rows); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range rows {
			var cells []string
			args, _ := s.arguments()
			for _, a := range args {
				text := fmt.Sprint(row[a.Name])
				v, err := scalar.ParseText(a.Type, text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				cells = append(cells, scalar.Literal(v))
			}
			got = append(got, strings.Join(cells, " "))
		}
		slices.Sort(got)
		if want := sortedTuples(r); !slices.Equal(got, want) {
			t.Fatalf("JSON holds %q, want %q", got, want)
		}
	}
}

func TestWriteFormats(t *testing.T) {
	s := predicate(t, "p(n:int; price:decimal[18,2]; day:datetime; name:string; ok:boolean; f:float)")
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
	r, err := FromSlices(s, slices[0], slices[1], slices[2], slices[3], slices[4], slices[5])
	if err != nil {
		t.Fatal(err)
	}
	desc := OutputOf(r)
	desc.Order, desc.Limit = []Order{{Col: 0, Desc: true}}, 1
	for _, c := range []struct {
		out    *Output
		format OutputFormat
		opts   WriteOptions
		want   string
	}{
		{OutputOf(r), OutputTSV, WriteOptions{}, "2\t-1.50\t2024-02-29\ttab\\tand \\\\t\ttrue\tinf\n10\t1234.00\t1970-01-01T00:00:01.500000Z\t日本, \"x\"\tfalse\t0.1\n"},
		{desc, OutputCSV, WriteOptions{Header: true}, "n,price,day,name,ok,f\n10,1234.00,1970-01-01T00:00:01.500000Z,\"日本, \"\"x\"\"\",false,0.1\n"},
		{OutputOf(r), OutputJSON, WriteOptions{}, `[
{"n":2,"price":-1.50,"day":"2024-02-29","name":"tab\tand \\t","ok":true,"f":"inf"},
{"n":10,"price":1234.00,"day":"1970-01-01T00:00:01.500000Z","name":"日本, \"x\"","ok":false,"f":0.1}
]
`},
		{OutputOf(r), OutputTable, WriteOptions{}, ` n    price  day                          name          ok       f
--  -------  ---------------------------  ------------  -----  ---
 2    -1.50  2024-02-29                   tab\tand \\t  true   inf
10  1234.00  1970-01-01T00:00:01.500000Z  日本, "x"     false  0.1
(2 rows)
`},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.out, c.format, c.opts); err != nil {
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
	r, err := FromSlices(predicate(t, "p(x:int)"), values)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, OutputOf(r), OutputTable, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != n+3 || lines[2] != "    0" || lines[n+1] != fmt.Sprint(n-1) || lines[n+2] != fmt.Sprintf("(%d rows)", n) {
		t.Errorf("%d lines: %q ... %q", len(lines), lines[2], lines[n+1:])
	}
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.tsv")
	write(t, dir, "out.tsv", "old")
	boom := errors.New("boom")
	err := WriteFile(path, func(w io.Writer) error {
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
		WriteFile(path, func(io.Writer) error { panic("boom") })
	}()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := WriteFile(dir, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was overwritten")
	}
	if err := WriteFile(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Error(err)
	}
}
