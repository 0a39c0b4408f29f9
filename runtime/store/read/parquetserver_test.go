package read

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// fileServer serves files by their base names, and counts requests and bytes.
func fileServer(t *testing.T, paths []string) (url string, requests, sent *atomic.Int64) {
	t.Helper()
	requests, sent = new(atomic.Int64), new(atomic.Int64)
	files := map[string]string{}
	for _, path := range paths {
		files["/"+filepath.Base(path)] = path
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		requests.Add(1)
		http.ServeFile(&countingWriter{w, sent}, req, files[req.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL, requests, sent
}

// TestPagesOfServers selects rows of files on a server by their page indexes,
// and wants fewer bytes sent than of whole column chunks.
func TestPagesOfServers(t *testing.T) {
	url, _, sent := fileServer(t, pageFiles(t))
	schemas := []store.Schema{storetest.Predicate(t, "t:n[id:int]=n:int"),
		storetest.Predicate(t, "t:name[id:int]=name:string")}
	test := &Test{Range: true, Least: 2000, Most: 2499}
	holds := func(v scalar.Value) bool { return test.Least <= v.Int() && v.Int() <= test.Most }
	for _, path := range pageFiles(t) {
		whole, _, err := selectedRows(t, path, schemas, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := url + "/" + filepath.Base(path)
		sent.Store(0)
		if _, _, err := selectedRows(t, at, schemas, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		all := sent.Swap(0)
		db, report, err := selectedRows(t, at, schemas, Options{}, map[string]*Test{"t:n": test})
		if err != nil {
			t.Fatal(err)
		}
		if f := report.Files[0]; !f.Selected || f.PagesLeft < 20 || sent.Load() > all-3000 {
			t.Errorf("%s: %d pages are left out, %d of %d bytes are sent", at, f.PagesLeft, sent.Load(),
				all)
		}
		compareSelected(t, at, whole, db, "t:n", holds, false)
	}
}

// TestBloomFiltersOfServers selects rows of files on a server by Bloom filters.
func TestBloomFiltersOfServers(t *testing.T) {
	paths := bloomFiles(t)
	url, requests, _ := fileServer(t, paths)
	schemas := []store.Schema{storetest.Predicate(t, "t:name[id:int]=name:string")}
	for _, path := range paths {
		whole, _, err := selectedRows(t, path, schemas, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		equal := []scalar.Value{scalar.OfString("name 4")}
		holds := func(v scalar.Value) bool { return v.Str() == "name 4" }
		requests.Store(0)
		db, report, err := selectedRows(t, url+"/"+filepath.Base(path), schemas, Options{},
			map[string]*Test{"t:name": {Equal: equal, Holds: holds}})
		if err != nil {
			t.Fatal(err)
		}
		compareSelected(t, path, whole, db, "t:name", holds, false)
		// The keys of three row groups are read, and one row group of names.
		if f := report.Files[0]; !f.Selected || f.Kept*3 > f.Rows || requests.Load() > 18 {
			t.Errorf("%s: %d of %d rows, %d requests", path, f.Kept, f.Rows, requests.Load())
		}
	}
}

// TestLateStringsOfServers reads strings after the context of the load has
// ended.
func TestLateStringsOfServers(t *testing.T) {
	path := bloomFiles(t)[0]
	url, _, _ := fileServer(t, []string{path})
	schema := storetest.Predicate(t, "t:name[id:int]=name:string")
	for _, at := range []string{path, url + "/" + filepath.Base(path)} {
		ctx, cancel := context.WithCancel(context.Background())
		b, err := Bind(ctx, []store.Schema{schema}, "", []Fact{{Pred: "t", Path: at}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.Show(0, func(string, int) bool { return true })
		db, _, err := Load(ctx, b, Options{})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		late := db.Relation("t:name").Column(1).Late
		if late == nil {
			t.Fatalf("%s: the strings are not put off", at)
		}
		c, _, err := late.ReadRows(context.Background(), 2, []uint32{0, 5, 2048, 6143})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for row := range c.Len() {
			got = append(got, c.Value(row).Str())
		}
		want := []string{"name 0", "name 105", "name 97", "name 53"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", at, got, want)
		}
	}
}
