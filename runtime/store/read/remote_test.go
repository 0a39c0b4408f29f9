package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// TestServers reads files of every format from a server, and compares them with
// the same files of the disk. Of a Parquet file, only the columns that are
// wanted are asked for.
func TestServers(t *testing.T) {
	const rows = 30_000
	s := storetest.Predicate(t, "p(id:int; name:string; n:int)")
	ids, names, numbers := make([]int, rows), make([]string, rows), make([]int, rows)
	for i := range rows {
		ids[i], numbers[i] = i, i*104729%rows
		names[i] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	r, err := FromSlices(s, ids, names, numbers)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for format := range readAs {
		f, err := os.Create(filepath.Join(dir, "p."+format.String()))
		if err == nil {
			err = write.Rows(f, write.Of(r), format, write.Options{Header: true})
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.FileServer(http.Dir(dir)).ServeHTTP(&countingWriter{w, &sent}, req)
	}))
	defer server.Close()
	header := true
	want := storetest.Tuples(r)
	for format := range readAs {
		f := Fact{Pred: "p", Path: server.URL + "/p." + format.String() + "?key=value"}
		if formatOf(f.Path).isText() && formatOf(f.Path) != JSON {
			f.Header = &header
		}
		back, err := tryLoad(s, f, Options{Threads: 2})
		if err != nil {
			t.Errorf("%v: %v", format, err)
		} else if !slices.Equal(storetest.Tuples(back), want) {
			t.Errorf("%v: other tuples", format)
		}
	}
	few := storetest.Predicate(t, "p(n:int)")
	sent.Store(0)
	if _, err := tryLoad(few, Fact{Pred: "p", Path: server.URL + "/p.parquet"}, Options{}); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, "p.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if n := sent.Load(); n > info.Size()/2 {
		t.Errorf("one column of three: %d bytes of a file of %d", n, info.Size())
	}
	for path, says := range map[string]string{"none.csv": "404 Not Found",
		"p.sqlite": "an SQLite database is not read from a server"} {
		_, err := tryLoad(few, Fact{Pred: "p", Path: server.URL + "/" + path}, Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// countingWriter counts the bytes of bodies.
type countingWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// TestServersFail loads a file of a server that breaks off once, and one that
// changes after its footer has been read.
func TestServersFail(t *testing.T) {
	s := storetest.Predicate(t, "p(x:int)")
	values := make([]int, 300_000)
	for i := range values {
		values[i] = i * 7919
	}
	r, err := FromSlices(s, values)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write.Rows(&b, write.Of(r), write.Parquet, write.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, change := range []bool{false, true} {
		var requests atomic.Int64
		answer := func(w http.ResponseWriter, req *http.Request) {
			n := requests.Add(1)
			w.Header().Set("ETag", `"a"`)
			switch {
			case n == 3 && change:
				w.Header().Set("ETag", `"b"`)
			case n == 3:
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(b.Bytes()))
		}
		server := httptest.NewServer(http.HandlerFunc(answer))
		back, err := tryLoad(s, Fact{Pred: "p", Path: server.URL + "/p.parquet"}, Options{Threads: 1})
		switch {
		case change && (err == nil || !strings.Contains(err.Error(), "has changed on the server")):
			t.Errorf("a change: %v", err)
		case !change && err != nil:
			t.Error(err)
		case !change && back.Rows() != r.Rows():
			t.Errorf("%d rows", back.Rows())
		}
		server.Close()
	}
}

// TestServersCancelled cancels a load of a server that says nothing.
func TestServersCancelled(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	s := storetest.Predicate(t, "p(x:int)")
	_, err := Bind(ctx, []store.Schema{s}, "",
		[]Fact{{Pred: "p", Path: server.URL + "/p.parquet"}}, Options{})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestFolderOfS3 binds the objects of a folder by name, as those of a folder of
// the disk, but for objects that a fact has taken.
func TestFolderOfS3(t *testing.T) {
	objects := map[string]string{
		"in/p.csv": "x\n1\n2\n", "in/a/b.tsv": "3\n", "in/.hidden/p.csv": "x\n9\n",
		"in/q.csv": "x\n4\n", "in/q.txt": "5\n", "in/notes.txt": "nothing", "in/r.csv": "x\n6\n",
		"in2/p.csv": "x\n7\n", "in/": "",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := strings.CutPrefix(r.URL.Path, "/bucket/")
		if text, ok := objects[key]; ok && key != "" {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
			return
		}
		fmt.Fprint(w, "<ListBucketResult>")
		for key := range objects {
			if strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID"} {
		t.Setenv(name, "")
	}
	header := true
	schemas := []store.Schema{storetest.Predicate(t, "p(x:int)"), storetest.Predicate(t, "a:b(x:int)"),
		storetest.Predicate(t, "q(x:int)"), storetest.Predicate(t, "r(x:int)")}
	for _, dir := range []string{"s3://bucket/in", "s3://bucket/in/"} {
		b, err := Bind(context.Background(), schemas, dir,
			[]Fact{{Pred: "r", Path: "s3://bucket/in2/p.csv", Header: &header}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		db, _, err := Load(context.Background(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for pred, want := range map[string]int{"p": 2, "a:b": 1, "q": 1, "r": 1} {
			if got := db.Relation(pred).Rows(); got != want {
				t.Errorf("%s: %s has %d facts, not %d", dir, pred, got, want)
			}
		}
	}
	for dir, says := range map[string]string{"https://host/in": "is no folder of S3",
		"s3://bucket/*.csv": "is no folder of S3"} {
		_, err := Bind(context.Background(), schemas, dir, nil, Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
