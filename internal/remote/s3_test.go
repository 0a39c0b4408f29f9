package remote

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// The keys of the fake object store.
const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// signed reports whether a request is signed with the keys of the store: the
// signer makes the same signature of the same request and time.
func signed(t *testing.T, r *http.Request) bool {
	t.Helper()
	got := r.Header.Get("Authorization")
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, names, ok := strings.Cut(got, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	if err != nil || !ok || time.Since(at).Abs() > time.Hour {
		return false
	}
	list := strings.Split(names, ";")
	if !slices.Contains(list, "host") || r.Header.Get("Range") != "" && !slices.Contains(list, "range") {
		t.Errorf("signed headers are %s", names)
	}
	again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.RequestURI, nil)
	for _, name := range list {
		if v := r.Header.Get(name); v != "" {
			again.Header.Set(name, v)
		}
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	err = signer.SignHTTP(t.Context(), aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret,
		SessionToken: r.Header.Get("X-Amz-Security-Token")}, again,
		r.Header.Get("X-Amz-Content-Sha256"), "s3", "eu-test-1", at)
	return err == nil && again.Header.Get("Authorization") == got
}

// bucket is a fake of S3 with one bucket. A page of its list has two keys.
func bucket(t *testing.T, objects map[string]string) *httptest.Server {
	t.Helper()
	return faultyBucket(t, objects,
		func(w http.ResponseWriter, _ *http.Request) http.ResponseWriter { return w })
}

// storeFault returns nil if it has answered a request, or what the answer is
// written to.
type storeFault func(http.ResponseWriter, *http.Request) http.ResponseWriter

// faultyBucket is a bucket with a fault.
func faultyBucket(t *testing.T, objects map[string]string,
	fault storeFault) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w = fault(w, r); w == nil {
			return
		}
		if !signed(t, r) {
			http.Error(w, "<Error><Code>SignatureDoesNotMatch</Code></Error>", http.StatusForbidden)
			return
		}
		key, ok := strings.CutPrefix(r.URL.Path, "/b/")
		switch {
		case !ok:
			http.Error(w, "<Error><Code>NoSuchBucket</Code></Error>", http.StatusNotFound)
		case key == "":
			list(w, r, objects)
		default:
			text, ok := objects[key]
			if !ok {
				http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
				return
			}
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(text)))
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ACCESS_KEY_ID", keyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_SESSION_TOKEN", "a token")
	t.Setenv("AWS_REGION", "eu-test-1")
	return s
}

// list answers with a page of keys (ListObjectsV2).
func list(w http.ResponseWriter, r *http.Request, objects map[string]string) {
	type content struct{ Key string }
	page := struct {
		XMLName               xml.Name  `xml:"ListBucketResult"`
		Contents              []content `xml:"Contents"`
		IsTruncated           bool
		NextContinuationToken string
	}{}
	q := r.URL.Query()
	var keys []string
	for k := range objects {
		if strings.HasPrefix(k, q.Get("prefix")) && k > q.Get("continuation-token") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for i, k := range keys {
		if i == 2 {
			page.IsTruncated, page.NextContinuationToken = true, keys[1]
			break
		}
		page.Contents = append(page.Contents, content{k})
	}
	text, _ := xml.Marshal(page)
	w.Write(text)
}

func TestS3(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	bucket(t, map[string]string{"a.tsv": "1\t2\n", "dir/y=1/p 1.tsv": long, "dir/y=2/p+2.tsv": "x",
		"dir/é//z.tsv": "y", "dir/": "", "dirt.tsv": "z"})
	for key, want := range map[string]string{"a.tsv": "1\t2\n", "dir/y=1/p 1.tsv": long,
		"dir/y=2/p+2.tsv": "x", "dir/é//z.tsv": "y"} {
		f, err := Open(t.Context(), "s3://b/"+key)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", key, len(got), err)
		}
		f.Close()
	}
	for pattern, want := range map[string]string{
		"s3://b/dir/":              "dir/y=1/p 1.tsv dir/y=2/p+2.tsv dir/é//z.tsv",
		"s3://b/dir/*/p*.tsv":      "dir/y=1/p 1.tsv dir/y=2/p+2.tsv",
		"s3://b/*.tsv":             "a.tsv dirt.tsv",
		"s3://b/dir/y=[2]/p?2.tsv": "dir/y=2/p+2.tsv",
	} {
		urls, err := List(t.Context(), pattern)
		got := strings.ReplaceAll(strings.Join(urls, " "), "s3://b/", "")
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", pattern, got, err)
		}
	}
	for name, says := range map[string]string{"s3://b/none": "404", "s3://c/a.tsv": "404",
		"s3://b": "names no object"} {
		if _, err := Open(t.Context(), name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	if _, err := Open(t.Context(), "s3://b/a.tsv"); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("another secret: %v", err)
	}
}

// brokenAnswer ends the connection in the middle of an answer.
type brokenAnswer struct{ http.ResponseWriter }

func (b brokenAnswer) Write(p []byte) (int, error) {
	b.ResponseWriter.Write(p[:len(p)/2])
	panic(http.ErrAbortHandler)
}

// TestS3Faults reads and lists objects of a store of which every second request
// fails in some way.
func TestS3Faults(t *testing.T) {
	waited := pause
	pause = func(context.Context, time.Duration) {}
	t.Cleanup(func() { pause = waited })
	long := strings.Repeat("0123456789", 20_000)
	objects := map[string]string{"d/a.tsv": long, "d/b.tsv": "x", "d/c.tsv": "y", "d/e.tsv": "z"}
	code := func(status int, name string) storeFault {
		return func(w http.ResponseWriter, _ *http.Request) http.ResponseWriter {
			http.Error(w, "<Error><Code>"+name+"</Code></Error>", status)
			return nil
		}
	}
	for name, fault := range map[string]storeFault{
		"slow down": code(http.StatusServiceUnavailable, "SlowDown"),
		"internal":  code(http.StatusInternalServerError, "InternalError"),
		"closed": func(http.ResponseWriter, *http.Request) http.ResponseWriter {
			panic(http.ErrAbortHandler)
		},
		"cut": func(w http.ResponseWriter, _ *http.Request) http.ResponseWriter {
			return brokenAnswer{w}
		},
		"another length": func(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
			var from, last int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &last)
			if last = min(last, len(long)-1); last <= from {
				return brokenAnswer{w}
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, last, len(long)))
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, long[from:(from+last)/2])
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			faultyBucket(t, objects, func(w http.ResponseWriter,
				r *http.Request) http.ResponseWriter {
				if requests.Add(1)%2 == 0 {
					return w
				}
				return fault(w, r)
			}).Config.ErrorLog = log.New(io.Discard, "", 0)
			f, err := Open(t.Context(), "s3://b/d/a.tsv")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got, err := io.ReadAll(f); err != nil || string(got) != long {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			part := make([]byte, 1000)
			_, err = f.ReadAt(part, 100_003)
			if err != nil || string(part) != long[100_003:][:1000] {
				t.Errorf("a part: %v", err)
			}
			urls, err := List(t.Context(), "s3://b/d/*.tsv")
			if err != nil || len(urls) != len(objects) {
				t.Errorf("a list: %v, %v", urls, err)
			}
		})
	}
}

func TestAmazonsHosts(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION",
		"AWS_ACCESS_KEY_ID"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_DEFAULT_REGION", "eu-north-1")
	for name, want := range map[string]string{
		"s3://data/a b/c.csv": "https://data.s3.eu-north-1.amazonaws.com/a%20b/c.csv",
		"s3://data.org/c.csv": "https://s3.eu-north-1.amazonaws.com/data.org/c.csv",
	} {
		to, err := targetOf(name)
		if err != nil || to.url.String() != want || to.keys != nil {
			t.Errorf("%s: %v, %v", name, to.url, err)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		name, folder string
		below        bool
	}{
		{"https://h/d/x.csv", "https://h/d/", true}, {"https://h/d/x.csv", "https://H/d", true},
		{"https://h/d/x.csv", "https://h", true}, {"https://h/dx.csv", "https://h/d", false},
		{"https://h/d/../x.csv", "https://h/d", false},
		{"https://h/d/%2e%2e/x.csv", "https://h/d", false},
		{"https://h/d/..\\x.csv", "https://h/d", false},
		{"http://h/d/x.csv", "https://h/d", false}, {"https://h:8/d/x", "https://h/d", false},
		{"https://u@h/d/x.csv", "https://h/d", false}, {"https://h.org/d/x", "https://h", false},
		{"s3://b/d/x", "s3://b/d", true}, {"s3://b/dx", "s3://b/d", false},
		{"s3://c/d/x", "s3://b", false}, {"s3://h/d/x", "https://h/d", false},
	} {
		if Below(c.name, c.folder) != c.below {
			t.Errorf("%s below %s: not %v", c.name, c.folder, c.below)
		}
	}
}
