package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Is reports whether a path is a URL that Open takes.
func Is(path string) bool {
	return hasScheme(path, "https") || hasScheme(path, "http") || isS3(path)
}

func hasScheme(path, scheme string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(path), scheme+"://")
	return ok && rest != ""
}

func isS3(path string) bool { return hasScheme(path, "s3") }

// IsFolder reports whether a URL can stand for a folder, whose objects List
// lists with a slash behind it. Servers of HTTP have no lists.
func IsFolder(path string) bool {
	if !isS3(path) {
		return false
	}
	_, key := cutS3(path)
	return !strings.ContainsAny(key, "*?[")
}

// Below reports whether a URL is one of a folder, or below it. A URL whose path
// leads back is below none.
func Below(name, folder string) bool {
	if isS3(name) || isS3(folder) {
		bucket, key := cutS3(name)
		in, prefix := cutS3(folder)
		return isS3(name) && isS3(folder) && bucket == in && isBelow(key, prefix)
	}
	u, err := url.Parse(name)
	of, wrong := url.Parse(folder)
	if err != nil || wrong != nil || u.Host == "" || u.User.String() != of.User.String() {
		return false
	}
	leadsBack := slices.ContainsFunc(strings.FieldsFunc(u.Path,
		func(r rune) bool { return r == '/' || r == '\\' }),
		func(part string) bool { return part == ".." || part == "." })
	return !leadsBack && strings.EqualFold(u.Scheme, of.Scheme) &&
		strings.EqualFold(u.Host, of.Host) && isBelow(u.Path, of.Path)
}

func isBelow(path, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}

// Failed reports whether an error is of the network or of a server, not of what
// is in a file.
func Failed(err error) bool {
	var f *failure
	return errors.As(err, &f) || errors.Is(err, errChanged)
}

// Name returns the path of a URL, without what a web server does not take for
// the name of a file.
func Name(path string) string {
	if isS3(path) {
		return path
	}
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	return u.Path
}

// headBytes is how much of a file is read when it is opened, and of its end
// when that is looked at.
const headBytes = 64 << 10

// File is a file of a server. Several goroutines may call ReadAt.
type File struct {
	ctx  context.Context
	name string // as the caller has it
	to   target
	size int64 // -1 if the server does not say

	ranges   bool   // the server knows ranges
	etag     string // of the version; may be empty
	modified string // likewise

	head    []byte
	mu      sync.Mutex
	tail    []byte // the last bytes, or nil
	whole   []byte // the file, of a server without ranges
	stream  *Span  // of Read
	reading int64  // where Read is
}

// Size returns the size of the file, 0 if the server does not say.
func (f *File) Size() int64 { return max(0, f.size) }

// Open opens a URL. The context is that of all that is read of the file.
func Open(ctx context.Context, name string) (*File, error) {
	to, err := targetOf(name)
	if err != nil {
		return nil, err
	}
	f := &File{ctx: ctx, name: name, to: to, size: -1}
	try := newAttempts(ctx)
	for {
		err := f.open()
		if err == nil {
			return f, nil
		}
		if err := try.again(err); err != nil {
			return nil, err
		}
	}
}

// HasRanges reports whether the server sends parts of the file.
func (f *File) HasRanges() bool { return f.ranges }

// With returns the same version of the file, of which what is read has another
// context.
func (f *File) With(ctx context.Context) *File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &File{ctx: ctx, name: f.name, to: f.to, size: f.size, ranges: f.ranges, etag: f.etag,
		modified: f.modified, head: f.head, tail: f.tail, whole: f.whole}
}

// open reads the start of the file, and what the server says of it.
func (f *File) open() error {
	resp, cancel, err := f.get(0, headBytes)
	if err != nil {
		return err
	}
	defer cancel()
	defer resp.Body.Close()
	f.etag, f.modified = resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	switch resp.StatusCode {
	case http.StatusPartialContent:
		from, until, size, ok := contentRange(resp)
		if !ok || from != 0 || until != min(size, headBytes) {
			return &failure{text: "the server answers with another range than it was asked for: " +
				resp.Header.Get("Content-Range"), again: true}
		}
		f.ranges, f.size = true, size
		f.head = make([]byte, until)
		_, err := io.ReadFull(resp.Body, f.head)
		return short(err)
	case http.StatusRequestedRangeNotSatisfiable: // the file is empty
		f.ranges, f.size = true, 0
		return nil
	}
	f.size = resp.ContentLength
	return nil
}

// failure is an answer of a server that is not the file.
type failure struct {
	text  string
	err   error         // such as fs.ErrNotExist; may be nil
	again bool          // another attempt may succeed
	after time.Duration // not before this
}

// Error returns the text.
func (f *failure) Error() string { return f.text }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// short makes an error of a body that ends early one that is tried again.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &failure{text: "the server sends less of the file than it announces",
			err: io.ErrUnexpectedEOF, again: true}
	}
	return err
}

// silence is how long a server may send nothing.
const silence = 60 * time.Second

// get asks for the bytes from..until-1, or for the whole file if until is
// negative. The answer has a body, which ends when cancel is called or nothing
// comes of it for long.
func (f *File) get(from, until int64) (*http.Response, func(), error) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	watch := time.AfterFunc(silence, func() {
		cancel(&failure{text: fmt.Sprintf("the server has sent nothing for %v", silence), again: true})
	})
	stop := func() {
		watch.Stop()
		cancel(nil)
	}
	header := http.Header{"Accept-Encoding": {"identity"}}
	if until >= 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, until-1))
	}
	if f.etag != "" && !strings.HasPrefix(f.etag, "W/") {
		header.Set("If-Match", f.etag)
	}
	resp, err := f.to.do(ctx, f.to.url, header)
	if err == nil {
		if err = statusError(resp); err != nil {
			resp.Body.Close()
		}
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		stop()
		return nil, nil, err
	}
	watch.Stop()
	resp.Body = &watched{resp.Body, watch, ctx}
	return resp, stop, nil
}

// watched is a body whose silence is noticed.
type watched struct {
	io.ReadCloser
	watch *time.Timer
	ctx   context.Context
}

// Read reads on.
func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(silence)
	n, err := w.ReadCloser.Read(p)
	w.watch.Stop()
	if cause := context.Cause(w.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

// statusError returns the error of an answer that is not a file.
func statusError(resp *http.Response) error {
	code := resp.StatusCode
	f := &failure{text: "the server says " + resp.Status}
	switch code {
	case http.StatusOK, http.StatusPartialContent:
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		if _, _, size, _ := contentRange(resp); size == 0 {
			return nil
		}
		return errChanged
	case http.StatusPreconditionFailed:
		return errChanged
	case http.StatusNotFound, http.StatusGone:
		f.err = fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		f.err = fs.ErrPermission
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.again = true
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
			f.after = min(time.Duration(s)*time.Second, longestPause)
		}
	}
	if region := resp.Header.Get("X-Amz-Bucket-Region"); region != "" &&
		(code == http.StatusMovedPermanently || code == http.StatusBadRequest) {
		f.text += "; the bucket is in another region: set AWS_REGION=" + region
	}
	return f
}

var errChanged = errors.New("the file has changed on the server while it was read; read it again")

// contentRange returns the range of an answer and the size of the file.
func contentRange(resp *http.Response) (from, until, size int64, ok bool) {
	text := resp.Header.Get("Content-Range")
	if n, err := fmt.Sscanf(text, "bytes */%d", &size); n == 1 && err == nil {
		return 0, 0, size, false
	}
	var last int64
	n, err := fmt.Sscanf(text, "bytes %d-%d/%d", &from, &last, &size)
	ok = n == 3 && err == nil && from >= 0 && last >= from && last < size
	if ok && resp.ContentLength >= 0 && resp.ContentLength != last+1-from {
		ok = false
	}
	return from, last + 1, size, ok
}

// same reports whether an answer is of the version that was opened.
func (f *File) same(resp *http.Response) bool {
	etag, modified := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	return (etag == f.etag || etag == "" || f.etag == "") &&
		(modified == f.modified || modified == "" || f.modified == "")
}

// body returns the bytes from..until-1, or those up to the end of the file if
// the server does not know ranges.
func (f *File) body(from, until int64) (io.ReadCloser, func(), error) {
	if !f.ranges {
		until = -1
	}
	resp, cancel, err := f.get(from, until)
	if err != nil {
		return nil, nil, err
	}
	fail := func(err error) (io.ReadCloser, func(), error) {
		resp.Body.Close()
		cancel()
		return nil, nil, err
	}
	if !f.same(resp) {
		return fail(errChanged)
	}
	if resp.StatusCode == http.StatusPartialContent {
		first, end, size, ok := contentRange(resp)
		switch {
		case ok && f.size >= 0 && size != f.size:
			return fail(errChanged)
		case !ok || first != from || end != until:
			return fail(&failure{text: "the server answers with another range than it was asked for",
				again: true})
		}
		return resp.Body, cancel, nil
	}
	if f.size >= 0 && resp.ContentLength >= 0 && resp.ContentLength != f.size {
		return fail(errChanged)
	}
	// The server does not know ranges.
	if _, err := io.CopyN(io.Discard, resp.Body, from); err != nil {
		return fail(short(err))
	}
	return resp.Body, cancel, nil
}

// Read reads on from where the last Read or Seek ended.
func (f *File) Read(p []byte) (int, error) {
	if f.reading < int64(len(f.head)) {
		n := copy(p, f.head[f.reading:])
		f.reading += int64(n)
		return n, nil
	}
	if f.size >= 0 && f.reading >= f.size {
		return 0, io.EOF
	}
	if f.stream == nil || f.stream.at != f.reading {
		f.closeStream()
		f.stream = f.Range(f.reading, f.size)
	}
	n, err := f.stream.Read(p)
	f.reading += int64(n)
	return n, err
}

func (f *File) closeStream() {
	if f.stream != nil {
		f.stream.Close()
		f.stream = nil
	}
}

// Seek sets the place of the next Read.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.reading
	case io.SeekEnd:
		if f.size < 0 { // nobody but the end of the file says where it is
			if err := f.fetch(); err != nil {
				return 0, err
			}
		}
		offset += f.size
	}
	if offset < 0 {
		return 0, errors.New("a place before the start of the file")
	}
	f.reading = offset
	return offset, nil
}

// Close ends what is being read.
func (f *File) Close() error {
	f.closeStream()
	return nil
}

// fetch reads the whole file.
func (f *File) fetch() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole != nil {
		return nil
	}
	s := f.Range(0, f.size)
	defer s.Close()
	data, err := io.ReadAll(s)
	if err != nil {
		return err
	}
	f.whole, f.size = data, int64(len(data))
	return nil
}

// ReadAt reads bytes at a place.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if !f.ranges {
		if err := f.fetch(); err != nil {
			return 0, err
		}
		return readSlice(p, f.whole, at)
	}
	end := min(f.size, at+int64(len(p)))
	switch {
	case at < 0 || at >= f.size:
		return 0, io.EOF
	case end <= int64(len(f.head)):
		return readSlice(p, f.head, at)
	case at >= f.size-headBytes:
		tail, err := f.ending()
		if err != nil {
			return 0, err
		}
		return readSlice(p, tail, at-(f.size-int64(len(tail))))
	}
	s := f.Range(at, end)
	defer s.Close()
	n, err := io.ReadFull(s, p[:end-at])
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// readSlice is ReadAt of bytes.
func readSlice(p, data []byte, at int64) (int, error) {
	if at >= int64(len(data)) {
		return 0, io.EOF
	}
	n := copy(p, data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ending returns the last bytes of the file, where formats have their footers.
func (f *File) ending() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tail == nil {
		from := max(0, f.size-headBytes)
		s := f.Range(from, f.size)
		defer s.Close()
		tail := make([]byte, f.size-from)
		if _, err := io.ReadFull(s, tail); err != nil {
			return nil, err
		}
		f.tail = tail
	}
	return f.tail, nil
}
