package read

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// loadBytes loads hostile bytes. A failure must be a LoadError or a KeyError.
func loadBytes(t *testing.T, s store.Schema, f Fact, opts Options) *store.Relation {
	t.Helper()
	f.Pred, f.Path = s.Name, "fuzz"
	r, err := tryLoad(s, f, opts)
	if err == nil {
		return r
	}
	var le *LoadError
	var ke *KeyError
	var be *BindError
	if !errors.As(err, &le) && !errors.As(err, &ke) && !errors.As(err, &be) {
		t.Errorf("%T: %v", err, err)
	}
	return nil
}

// fuzzText checks that cutting a text into blocks and reading them in parallel
// changes nothing, whether rows are skipped or not.
func fuzzText(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), false, byte(3))
		f.Add([]byte(s), true, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, header bool, block byte) {
		for _, pred := range []string{"p(x:int; y:string)", "p[x:string]=y:decimal[18,2]", "p(x:string)",
			"p()"} {
			s := storetest.Predicate(t, pred)
			for _, policy := range []Policy{Stop, Skip} {
				fact := func() Fact {
					return Fact{Reader: bytes.NewReader(data), Format: format,
						Header: &header}
				}
				whole := loadBytes(t, s, fact(),
					Options{OnError: policy, Threads: 1, blockSize: 1 << 16})
				parts := loadBytes(t, s, fact(), Options{OnError: policy, Threads: 3, blockSize: 1 +
					int(block)})
				if (whole == nil) != (parts == nil) || whole != nil &&
					!slices.Equal(storetest.Tuples(whole), storetest.Tuples(parts)) {
					t.Errorf("%s: blocks of %d bytes give other tuples", pred, 1+int(block))
				}
			}
		}
	})
}

func FuzzTSV(f *testing.F) {
	fuzzText(f, TSV, "x\ty\n1\ta\n2\tb", "1\t\\t\\n\n\n\r\n", "\xef\xbb\xbf1\t\xff\n",
		"a\t1.50\nb\t2\na\t1.5\n")
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"{\"x\":1,\"s\":\"a\"}\n{\"s\":\"b\",\"x\":2,\"y\":[{}]}\n",
		"[\n{\"x\": 1, \"s\": \"\\u00e9\\\"\"},\n{\"x\":null,\"s\":\"\"}]\n", "[]", "[{}", "{}}", "[,]",
		"{\"x\":1.0,\"s\":\"a\"}{\"x\":12e-1,\"s\":\"a\"}", "{\"x\":{\"s\":5},\"x.s\":7}",
	} {
		f.Add([]byte(seed))
	}
	schemas := []store.Schema{storetest.Predicate(f, "p(x:int; s:string)")}
	within := storetest.Predicate(f, "p(s:int)")
	f.Fuzz(func(t *testing.T, text []byte) {
		loadBytes(t, within, Fact{Reader: bytes.NewReader(text), Format: JSON,
			Columns: []string{"x.s"}}, Options{Threads: 1})
		var answers []string
		for _, block := range []int{1, 7, 1 << 20} {
			opts := Options{blockSize: block, Threads: 2}
			b, err := Bind(context.Background(), schemas, "", []Fact{{Pred: "p", Path: "p.json", Format: JSON,
				Reader: bytes.NewReader(text)}}, opts)
			if err != nil {
				return
			}
			answer := "refused"
			if db, _, err := Load(context.Background(), b, opts); err == nil {
				answer = strings.Join(storetest.Tuples(db.Relation("p")), "; ")
				checkJSON(t, text)
			}
			answers = append(answers, answer)
		}
		if answers[0] != answers[2] || answers[1] != answers[2] {
			t.Errorf("blocks of several sizes: %q", answers)
		}
	})
}

// checkJSON fails unless a text is an array, or values that follow each other.
func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte(textMark))))
	for {
		var value any
		if err := d.Decode(&value); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%q was read: %v", text, err)
		}
	}
}

func FuzzCSV(f *testing.F) {
	fuzzText(f, CSV, "x,y\n1,\"a\"\"b\"\n2,\"c\nd\"", "1,\"open\n2,b\n", "1,\"a\"b\n2,c",
		"\"a\",\"1.50\"\r\n")
}

// everyType has a column of each type whose text form has something of its own.
const everyType = "p(a:int; b:uint; c:int[8]; d:float; e:boolean; f:datetime; g:decimal[18,4]; h:decimal[38,6]; i:string)"

// readAs has the formats in which written files are read.
var readAs = map[write.Format]Format{write.TSV: TSV, write.CSV: CSV, write.Parquet: Parquet,
	write.JSON: JSON, write.JSONLines: JSON, write.Arrow: Arrow, write.ArrowStream: Arrow}

// FuzzTypes reads fields of every type, and holds that what loads is written,
// in each format, so that it loads again as the same tuples.
func FuzzTypes(f *testing.F) {
	for _, row := range []string{
		"1\t2\t3\t1.5\ttrue\t1998-09-02\t1.25\t123456789012345678901234567890.5\ta\n",
		"-9223372036854775808\t18446744073709551615\t-128\t-inf\tfalse\t-000044-03-15 10:00:00.5\t-922337203685477.5808\t-99999999999999999999999999999999.999999\t\\t\\\\\n",
		"0\t0\t0\tnan\ttrue\t9999-12-31 23:59:59.999999\t.5\t-0.000001\t\xff\n",
		"1\t2\t3\t1e400\tTRUE\t1998-02-30\t1.23456\t1e5\t\"quoted\"\r\n",
	} {
		f.Add([]byte(row), false)
		f.Add([]byte(strings.ReplaceAll(row, "\t", ",")), true)
	}
	s := storetest.Predicate(f, everyType)
	f.Fuzz(func(t *testing.T, data []byte, comma bool) {
		format := TSV
		if comma {
			format = CSV
		}
		none := false
		r := loadBytes(t, s, Fact{Reader: bytes.NewReader(data), Format: format, Header: &none},
			Options{OnError: Skip, Threads: 1})
		if r == nil || r.Rows() == 0 {
			return
		}
		want := storetest.Tuples(r)
		same := func(how string, back *store.Relation) {
			if back == nil || !slices.Equal(storetest.Tuples(back), want) {
				t.Errorf("%s: the tuples change from\n%q", how, want)
			}
		}
		for how, to := range readAs {
			var b bytes.Buffer
			if err := write.Rows(&b, write.Of(r), how, write.Options{}); err != nil {
				t.Fatalf("%v: %v", how, err)
			}
			same(how.String(), loadBytes(t, s, Fact{Reader: &b, Format: to, Header: &none},
				Options{Threads: 1}))
		}
		rec, err := write.ToArrow(write.Of(r))
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Release()
		back, err := FromArrow(s, rec)
		if err != nil {
			t.Error(err)
		}
		same("arrow", back)
	})
}

// FuzzPacked reads what claims to be compressed.
func FuzzPacked(f *testing.F) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("1\ta\n2\tb\n"))
	w.Close()
	f.Add(z.Bytes())
	zst, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(zst.EncodeAll([]byte("1\ta\n2\tb\n"), nil))
	s := storetest.Predicate(f, "p(x:int; y:string)")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, policy := range []Policy{Stop, Skip} {
			loadBytes(t, s, Fact{Reader: bytes.NewReader(data), Format: TSV},
				Options{Threads: 1, OnError: policy})
		}
	})
}

// FuzzBinding binds a file, whose first record names columns, to predicates as
// a user writes it.
func FuzzBinding(f *testing.F) {
	f.Add("p=facts.tsv(b, 1)", "a\tb\n1\t2\n")
	f.Add("part=facts.csv", "size,part_size\n1,2\n")
	f.Add("p=facts.tsv(a,a)", "A\ta\n1\t2\n")
	schemas := []store.Schema{storetest.Predicate(f, "p(a:int; b:string)"),
		storetest.Predicate(f, "part:size[part:int]=size:int")}
	f.Fuzz(func(t *testing.T, fact, text string) {
		bound, err := ParseFact(fact)
		if err != nil {
			return
		}
		if bound.Path == "" || bound.Pred == "" &&
			strings.TrimSpace(strings.SplitN(fact, "=", 2)[0]) != "" ||
			slices.Contains(bound.Columns, "") {
			t.Errorf("%q is %+v", fact, bound)
		}
		bound.Path, bound.Reader, bound.Format = "fuzz.tsv", strings.NewReader(text), TSV
		b, err := Bind(context.Background(), schemas, "", []Fact{bound}, Options{})
		var be *BindError
		var le *LoadError
		if err == nil {
			_, _, err = Load(context.Background(), b, Options{Threads: 1, OnError: Skip})
		}
		var ke *KeyError
		if err != nil && !errors.As(err, &be) && !errors.As(err, &le) && !errors.As(err, &ke) {
			t.Errorf("%T: %v", err, err)
		}
	})
}

func FuzzParquet(f *testing.F) {
	files, _ := filepath.Glob("testdata/parquet/*.parquet")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pred := range []string{"p(" + parquetColumns + ")", "p[id:int]=f64:float"} {
			loadBytes(t, storetest.Predicate(t, pred),
				Fact{Reader: bytes.NewReader(data), Format: Parquet},
				Options{Threads: 2})
		}
	})
}

// TestTruncatedFiles cuts files short; all that is left of them must load or be
// refused.
func TestTruncatedFiles(t *testing.T) {
	text, err := os.ReadFile("testdata/parquet/expected.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	lines := "p(id:int; a:int; b:int; c:int; d:int; e:int; f:int; g:int; h:uint; i:boolean; j:float; k:string; l:string; m:string; n:string; o:datetime; q:datetime; r:string)"
	for cut := 0; cut < packed.Len(); cut += 100 {
		if r := loadBytes(t, storetest.Predicate(t, lines),
			Fact{Reader: bytes.NewReader(packed.Bytes()[:cut]), Format: TSV},
			Options{}); r != nil &&
			cut > 0 {
			t.Errorf("%d of %d bytes of a gzip file load", cut, packed.Len())
		}
	}
	files, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := storetest.Predicate(t, "p("+parquetColumns+")")
		for cut := 0; cut < len(data); cut += 100 {
			if loadBytes(t, s, Fact{Reader: bytes.NewReader(data[:cut]), Format: Parquet},
				Options{}) != nil {
				t.Errorf("%s: %d of %d bytes load", name, cut, len(data))
			}
			// The footer is there, but points at what is not.
			if cut+1000 < len(data) {
				loadBytes(t, s, Fact{Reader: bytes.NewReader(append(slices.Clone(data[:cut]),
					data[cut+100:]...)), Format: Parquet}, Options{})
			}
		}
	}
}

// TestDamagedParquet changes bytes of files anywhere: they must load, perhaps
// with other values, or be refused.
func TestDamagedParquet(t *testing.T) {
	files, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	s := storetest.Predicate(t, "p("+parquetColumns+")")
	for _, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			data := slices.Clone(whole)
			for range 1 + rng.IntN(6) {
				data[rng.IntN(len(data))] = byte(rng.Uint32())
			}
			loadBytes(t, s, Fact{Reader: bytes.NewReader(data), Format: Parquet},
				Options{Threads: 2, OnError: Skip})
		}
	}
}
