package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a web server with one file, and faults.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	data     []byte
	etag     string
	requests int
	bytes    int64 // of bodies that were asked for
	// fault, if it returns true, has answered the request with that number.
	fault func(n int, w http.ResponseWriter, r *http.Request) bool
}

func serve(t *testing.T, data []byte) *server {
	t.Helper()
	s := &server{data: data, etag: `"one"`}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		n, fault, data, etag := s.requests, s.fault, s.data, s.etag
		s.requests++
		var from, last int64
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &last); err == nil {
			s.bytes += last + 1 - from
		}
		s.mu.Unlock()
		if fault != nil && fault(n, w, r) {
			return
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(s.Close)
	had, waited := client.Transport, pause
	client.Transport = s.Client().Transport
	pause = func(context.Context, time.Duration) {}
	t.Cleanup(func() { client.Transport, pause = had, waited })
	return s
}

func someBytes(n int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

// hijack ends the connection after some bytes of the answer.
func hijack(t *testing.T, w http.ResponseWriter, answer []byte, reset bool) {
	t.Helper()
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	rw.Write(answer)
	rw.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// faults are what servers and networks do. Each is for a request of a range.
var faults = map[string]func(t *testing.T, s *server, w http.ResponseWriter, r *http.Request){
	"503": func(_ *testing.T, _ *server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	},
	"short": func(t *testing.T, s *server, w http.ResponseWriter, r *http.Request) {
		cut(t, s, w, r, false)
	},
	"reset": func(t *testing.T, s *server, w http.ResponseWriter, r *http.Request) {
		cut(t, s, w, r, true)
	},
	"closed": func(t *testing.T, _ *server, w http.ResponseWriter, _ *http.Request) {
		hijack(t, w, nil, false)
	},
	"another range": func(_ *testing.T, s *server, w http.ResponseWriter, r *http.Request) {
		from, until := asked(s, r)
		w.Header().Set("ETag", s.etag)
		if from /= 2; from == 0 {
			from = 1
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, until-1, len(s.data)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(s.data[from:until])
	},
	"another length": func(_ *testing.T, s *server, w http.ResponseWriter, r *http.Request) {
		from, until := asked(s, r)
		w.Header().Set("ETag", s.etag)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, until-1, len(s.data)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(s.data[from : from+(until-from)/2])
	},
}

func asked(s *server, r *http.Request) (from, until int64) {
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &until)
	return from, min(until+1, int64(len(s.data)))
}

// cut answers with half of a range and ends the connection.
func cut(t *testing.T, s *server, w http.ResponseWriter, r *http.Request, reset bool) {
	from, until := asked(s, r)
	head := fmt.Sprintf("HTTP/1.1 206 Partial Content\r\nETag: %s\r\nContent-Length: %d\r\n"+
		"Content-Range: bytes %d-%d/%d\r\n\r\n", s.etag, until-from, from, until-1, len(s.data))
	hijack(t, w, append([]byte(head), s.data[from:from+(until-from)/2]...), reset)
}

// TestFaults reads files of which every second request fails in some way. What
// is read is right, or the error says what happened.
func TestFaults(t *testing.T) {
	data := someBytes(300_000)
	for name, answer := range faults {
		t.Run(name, func(t *testing.T) {
			s := serve(t, data)
			s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n%2 == 0 {
					answer(t, s, w, r)
				}
				return n%2 == 0
			}
			f, err := Open(t.Context(), s.URL+"/x")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Size() != int64(len(data)) {
				t.Errorf("size %d", f.Size())
			}
			got, err := io.ReadAll(f)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("read %d bytes: %v", len(got), err)
			}
			rng := rand.New(rand.NewPCG(4, 4))
			for range 20 {
				from := rng.IntN(len(data))
				part := make([]byte, 1+rng.IntN(len(data)/3))
				n, err := f.ReadAt(part, int64(from))
				want := data[from:min(len(data), from+len(part))]
				if !bytes.Equal(part[:n], want) || (err == nil) != (n == len(part)) {
					t.Fatalf("%d bytes at %d: %d, %v", len(part), from, n, err)
				}
			}
		})
	}
}

// TestRanges reads parts of a file, in one request each.
func TestRanges(t *testing.T) {
	data := someBytes(500_000)
	s := serve(t, data)
	f, err := Open(t.Context(), s.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	before := s.requests
	spans := f.With(t.Context()).Ranges([][2]int64{{100_000, 120_000}, {200_000, 300_000}})
	defer spans.Close()
	for _, c := range []struct{ at, length, requests int }{{100_000, 10, 1}, {100_010, 5000, 1},
		{119_000, 1000, 1}, {200_100, 10, 2}, {250_000, 50_000, 2}, {299_990, 20, 3},
		{150_000, 10, 4}, {100_000, 20, 5}} {
		got := make([]byte, c.length)
		n, err := spans.ReadAt(got, int64(c.at))
		if n != c.length || err != nil || !bytes.Equal(got, data[c.at:][:c.length]) {
			t.Errorf("%d bytes at %d: %d, %v", c.length, c.at, n, err)
		}
		if s.requests-before != c.requests {
			t.Errorf("%d bytes at %d: %d requests, not %d", c.length, c.at, s.requests-before,
				c.requests)
		}
	}
}

// TestFaultsThatStay wants an error after some attempts, and none of them to
// be made without need.
func TestFaultsThatStay(t *testing.T) {
	for _, c := range []struct {
		name   string
		says   string
		is     error
		most   int
		answer func(w http.ResponseWriter, r *http.Request)
	}{
		{"busy", "503 Service Unavailable, after 5 attempts", nil, 5,
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }},
		{"absent", "404 Not Found", fs.ErrNotExist, 1, http.NotFound},
		{"forbidden", "403 Forbidden", fs.ErrPermission, 1,
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }},
		{"elsewhere", "redirects to https://example.com/x, which nobody has named", nil, 1,
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://example.com/x", http.StatusFound)
			}},
		{"plain", "redirects to http://", nil, 1,
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://"+r.Host+"/x", http.StatusFound)
			}},
	} {
		s := serve(t, someBytes(10))
		s.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			c.answer(w, r)
			return true
		}
		_, err := Open(t.Context(), s.URL+"/x")
		if err == nil || !strings.Contains(err.Error(), c.says) ||
			c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
		if s.requests > c.most {
			t.Errorf("%s: %d requests", c.name, s.requests)
		}
	}
	_, err := Open(t.Context(), "https://127.0.0.1:1/x")
	if err == nil || strings.Contains(err.Error(), "attempts") {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestChange changes the file between requests.
func TestChange(t *testing.T) {
	for name, change := range map[string]func(s *server){
		"version": func(s *server) { s.etag = `"two"` },
		"size without a version": func(s *server) {
			s.etag = ""
			s.data = append(s.data, 0)
		},
	} {
		s := serve(t, someBytes(300_000))
		if name != "version" {
			s.etag = ""
		}
		f, err := Open(t.Context(), s.URL+"/x")
		if err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		change(s)
		s.mu.Unlock()
		if _, err := f.ReadAt(make([]byte, 10), 100_000); !errors.Is(err, errChanged) {
			t.Errorf("%s, at a place: %v", name, err)
		}
		if _, err := io.ReadAll(f); !errors.Is(err, errChanged) {
			t.Errorf("%s, on the way: %v", name, err)
		}
		f.Close()
	}
}

// TestWithoutRanges reads from a server that always sends the whole file, with
// its size and without.
func TestWithoutRanges(t *testing.T) {
	data := someBytes(200_000)
	for _, sized := range []bool{true, false} {
		s := serve(t, data)
		s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `"one"`)
			if sized {
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			}
			if n == 1 && sized {
				data := append([]byte("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 200000\r\n\r\n"),
					data[:70_000]...)
				hijack(t, w, data, false)
				return true
			}
			w.Write(data)
			return true
		}
		f, err := Open(t.Context(), s.URL+"/x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, data) {
			t.Errorf("sized %v: %d bytes, %v", sized, len(got), err)
		}
		if end, err := f.Seek(0, io.SeekEnd); err != nil || end != int64(len(data)) {
			t.Errorf("sized %v: the end is at %d, %v", sized, end, err)
		}
		part := make([]byte, 100)
		if _, err := f.ReadAt(part, 1000); err != nil || !bytes.Equal(part, data[1000:1100]) {
			t.Errorf("sized %v: at a place: %v", sized, err)
		}
		f.Close()
	}
}

func TestSmallFiles(t *testing.T) {
	for _, n := range []int{0, 1, headBytes - 1, headBytes, headBytes + 1} {
		s := serve(t, someBytes(n))
		f, err := Open(t.Context(), s.URL+"/x")
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, s.data) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		if _, err := f.ReadAt(make([]byte, 1), int64(n)); err != io.EOF {
			t.Errorf("%d bytes: behind the end: %v", n, err)
		}
		f.Close()
	}
}

func TestCancel(t *testing.T) {
	s := serve(t, someBytes(300_000))
	s.fault = func(n int, _ http.ResponseWriter, r *http.Request) bool {
		if n == 0 {
			return false
		}
		<-r.Context().Done() // the client has gone
		return true
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, err := Open(ctx, s.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	go cancel()
	if _, err := f.ReadAt(make([]byte, 10), 100_000); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
