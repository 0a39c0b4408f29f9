package store

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// loadBytes loads hostile bytes. A failure must be a LoadError or a KeyError.
func loadBytes(t *testing.T, s Schema, f Fact, opts Options) *Relation {
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
		for _, pred := range []string{"p(x:int; y:string)", "p[x:string]=y:decimal[18,2]", "p(x:string)", "p()"} {
			s := predicate(t, pred)
			for _, policy := range []Policy{Stop, Skip} {
				fact := func() Fact { return Fact{Reader: bytes.NewReader(data), Format: format, Header: &header} }
				whole := loadBytes(t, s, fact(), Options{OnError: policy, Threads: 1, blockSize: 1 << 16})
				parts := loadBytes(t, s, fact(), Options{OnError: policy, Threads: 3, blockSize: 1 + int(block)})
				if (whole == nil) != (parts == nil) || whole != nil && !slices.Equal(tuples(whole), tuples(parts)) {
					t.Errorf("%s: blocks of %d bytes give other tuples", pred, 1+int(block))
				}
			}
		}
	})
}

func FuzzTSV(f *testing.F) {
	fuzzText(f, TSV, "x\ty\n1\ta\n2\tb", "1\t\\t\\n\n\n\r\n", "\xef\xbb\xbf1\t\xff\n", "a\t1.50\nb\t2\na\t1.5\n")
}

func FuzzCSV(f *testing.F) {
	fuzzText(f, CSV, "x,y\n1,\"a\"\"b\"\n2,\"c\nd\"", "1,\"open\n2,b\n", "1,\"a\"b\n2,c", "\"a\",\"1.50\"\r\n")
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
			loadBytes(t, predicate(t, pred), Fact{Reader: bytes.NewReader(data), Format: Parquet}, Options{Threads: 2})
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
		if r := loadBytes(t, predicate(t, lines), Fact{Reader: bytes.NewReader(packed.Bytes()[:cut]), Format: TSV}, Options{}); r != nil && cut > 0 {
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
		s := predicate(t, "p("+parquetColumns+")")
		for cut := 0; cut < len(data); cut += 100 {
			if loadBytes(t, s, Fact{Reader: bytes.NewReader(data[:cut]), Format: Parquet}, Options{}) != nil {
				t.Errorf("%s: %d of %d bytes load", name, cut, len(data))
			}
			// The footer is there, but points at what is not.
			if cut+1000 < len(data) {
				loadBytes(t, s, Fact{Reader: bytes.NewReader(append(slices.Clone(data[:cut]), data[cut+100:]...)), Format: Parquet}, Options{})
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
	s := predicate(t, "p("+parquetColumns+")")
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
			loadBytes(t, s, Fact{Reader: bytes.NewReader(data), Format: Parquet}, Options{Threads: 2, OnError: Skip})
		}
	}
}
