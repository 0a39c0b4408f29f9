package read

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// pageFiles returns files with page indexes, which pyarrow has written: 1,500
// rows in two row groups, with pages of 50 rows. Columns id and day ascend, and
// n has five ranges of values.
func pageFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/pages/*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	return files
}

// TestSelectPages selects rows by bounds of values, and wants the rows that
// pass, of pages that were not all read.
func TestSelectPages(t *testing.T) {
	schemas := []store.Schema{
		storetest.Predicate(t, "t:day[id:int]=day:datetime"),
		storetest.Predicate(t, "t:n[id:int]=n:int"),
		storetest.Predicate(t, "t:name[id:int]=name:string"),
		storetest.Predicate(t, "t:kind[id:int]=kind:string"),
	}
	const day = 18_262 * scalar.MicrosPerDay // 2020-01-01
	for _, path := range pageFiles(t) {
		opts := memoryProofs(map[string][]byte{})
		whole, report, err := selectedRows(t, path, schemas, opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := report.Files[0].Bytes
		for _, c := range []struct {
			by          string
			least, most int64
			pages       int // that need not be read, at least
		}{
			{"t:day", day, day, 60},
			{"t:day", day + 62*scalar.MicrosPerDay, day + 70*scalar.MicrosPerDay, 50},
			{"t:day", day + 1, day + 2, 0}, // between two days
			{"t:n", 2000, 2499, 30},
			{"t:n", 600, 900, 0}, // between two ranges
			{"t:n", 0, 9999, 0},
		} {
			test := &Test{Range: true, Least: c.least, Most: c.most}
			db, report, err := selectedRows(t, path, schemas, opts, map[string]*Test{c.by: test})
			if err != nil {
				t.Fatal(err)
			}
			holds := func(v scalar.Value) bool {
				w := int64(v.Bits())
				return c.least <= w && w <= c.most
			}
			f := report.Files[0]
			if f.PagesLeft < c.pages || c.pages > 0 && f.Bytes > all/2 {
				t.Errorf("%s by %s: %d of %d pages and %d of %d bytes", path, c.by,
					f.Pages-f.PagesLeft, f.Pages, f.Bytes, all)
			}
			if f.Selected {
				compareSelected(t, path+" by "+c.by, whole, db, c.by, holds, false)
			}
		}
	}
}

// openPageFile reads a file and its footer.
func openPageFile(t *testing.T, path string) (*bytes.Reader, *parquet.Footer) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(data)
	footer, err := parquet.ReadFooter(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	return file, footer
}

// TestPageIndex holds page indexes against the pages, and reads some of them.
func TestPageIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, path := range pageFiles(t) {
		file, footer := openPageFile(t, path)
		size := file.Size()
		for g := range footer.Groups {
			for i := range footer.Columns {
				x := footer.PageIndex(file, size, g, i, true)
				if x == nil || x.Min == nil {
					t.Fatalf("%s: column %d of row group %d has no page index", path, i, g)
				}
				want := readPageBodies(t, footer.Pages(file, size, g, i, &parquet.Room{}), nil)
				if len(want) != len(x.Pages) {
					t.Fatalf("%s: %d pages, %d in the index", path, len(want), len(x.Pages))
				}
				share := r.IntN(5)
				isWanted := map[int64]bool{}
				for at := range x.Pages {
					from, _ := x.Rows(at)
					isWanted[from] = r.IntN(4) >= share
				}
				pages := footer.Pages(file, size, g, i, &parquet.Room{})
				pages.Skip(x, func(from, until int64) bool { return isWanted[from] })
				got := readPageBodies(t, pages, isWanted)
				for from, body := range want {
					if isWanted[from] != (got[from] != "") || isWanted[from] && got[from] != body {
						t.Errorf("%s: column %d, the page of row %d differs", path, i, from)
					}
				}
			}
		}
	}
}

// readPageBodies returns the bodies of data pages by their first rows.
func readPageBodies(t *testing.T, pages *parquet.Pages, wanted map[int64]bool) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	row := int64(0)
	for {
		page, err := pages.Next()
		if page == nil {
			if row == 0 || !strings.Contains(err.Error(), "EOF") {
				t.Fatal(row, err)
			}
			return out
		}
		if page.Dictionary != nil {
			continue
		}
		if page.Skipped > 0 == wanted[row] && wanted != nil {
			t.Errorf("the page of row %d: wanted %v", row, wanted[row])
		}
		out[row] = string(page.Body)
		row += int64(page.Values())
	}
}

// TestWrongPageIndex takes an index that does not fit the chunk for none, and
// refuses a file whose pages are others than its index says.
func TestWrongPageIndex(t *testing.T) {
	for _, path := range pageFiles(t) {
		file, footer := openPageFile(t, path)
		size := file.Size()
		chunks := footer.Groups[0].Chunks
		other := *footer.Groups[1].Chunks[1].Locations
		for _, wrong := range []int64{-1, 0, other, size, size - 1} {
			chunks[1].Locations = &wrong
			if footer.PageIndex(file, size, 0, 1, true) != nil {
				t.Errorf("%s: the index at byte %d is taken", path, wrong)
			}
		}
		x := footer.PageIndex(file, size, 0, 2, false)
		x.Pages[1].Row++
		pages := footer.Pages(file, size, 0, 2, &parquet.Room{})
		pages.Skip(x, func(from, until int64) bool { return true })
		var err error
		for err == nil {
			_, err = pages.Next()
		}
		if !strings.Contains(err.Error(), "other pages than its page index says") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDamagedPageIndex loads files with bytes of their page indexes changed.
// Whatever is loaded is a row that passes.
func TestDamagedPageIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := storetest.Predicate(t, "t:n[id:int]=n:int")
	for _, path := range pageFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		footer, err := parquet.ReadFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		from := int(*footer.Groups[0].Chunks[0].Bounds)
		for range 300 {
			damaged := bytes.Clone(data)
			damaged[from+r.IntN(len(data)-from)] ^= 1 << r.IntN(8)
			b, err := Bind(context.Background(), []store.Schema{s}, "",
				[]Fact{{Pred: "t:n", Reader: bytes.NewReader(damaged), Format: Parquet}}, Options{})
			if err != nil {
				continue
			}
			b.Ask(func(pred string, arg int) *Test {
				if arg == 0 {
					return nil
				}
				return &Test{Range: true, Least: 2000, Most: 2499}
			})
			db, _, err := Load(context.Background(), b, Options{})
			if err != nil {
				continue
			}
			rel := db.Relation("t:n")
			for row := range rel.Rows() {
				if n := rel.Column(1).Word(row); rel.Rows() < 1500 && (n < 2000 || n > 2499) {
					t.Fatalf("%s: row %d has %d", path, row, n)
				}
			}
		}
	}
}
