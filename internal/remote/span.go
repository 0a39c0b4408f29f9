package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// Span reads a part of a file from its start to its end, in one request unless
// that fails. It is for one goroutine.
type Span struct {
	file      *File
	at, until int64 // until is -1 if the size of the file is not known
	body      io.ReadCloser
	cancel    func()
	try       *attempts
}

// Range returns a reader of the bytes from..until-1, which must be closed.
// ReadAt is cheap where it reads on.
func (f *File) Range(from, until int64) *Span {
	return &Span{file: f, at: from, until: until, try: newAttempts(f.ctx)}
}

// Read reads on. What fails is asked for again, from where it stopped.
func (s *Span) Read(p []byte) (int, error) {
	for {
		if s.until >= 0 && s.at >= s.until {
			return 0, io.EOF
		}
		n, err := s.read(p)
		if s.at += int64(n); n > 0 {
			s.try.progress()
		}
		ended := err == io.EOF && s.until < 0
		if n > 0 || ended {
			if err != nil {
				s.Close()
			}
			if ended {
				s.until = s.at
			}
			return n, nil
		}
		if err == nil {
			continue
		}
		s.Close()
		if err := s.try.again(short(err)); err != nil {
			return 0, err
		}
	}
}

func (s *Span) read(p []byte) (int, error) {
	if s.body == nil {
		var err error
		if s.body, s.cancel, err = s.file.body(s.at, s.until); err != nil {
			return 0, err
		}
	}
	if s.until >= 0 {
		p = p[:min(int64(len(p)), s.until-s.at)]
	}
	return s.body.Read(p)
}

// ReadAt reads at a place, which may be where the last read ended.
func (s *Span) ReadAt(p []byte, at int64) (int, error) {
	if at != s.at {
		s.Close()
		s.at = at
	}
	n, err := io.ReadFull(s, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// Close ends the request.
func (s *Span) Close() {
	if s.body != nil {
		s.body.Close()
		s.cancel()
		s.body = nil
	}
}

// Spans reads several parts of a file, each in one request unless that fails.
// It is for one goroutine.
type Spans struct {
	file  *File
	parts [][2]int64
	part  int // of the span
	span  *Span
}

// Ranges returns a reader of parts from..until-1 in ascending order, which must
// be closed. ReadAt is cheap where it goes on in a part, or passes over some of
// it. What is not in a part takes a request of its own.
func (f *File) Ranges(parts [][2]int64) *Spans { return &Spans{file: f, parts: parts} }

// ReadAt reads at a place.
func (s *Spans) ReadAt(p []byte, at int64) (int, error) {
	if s.span == nil || at < s.span.at || at >= s.parts[s.part][1] {
		s.Close()
		end := at + int64(len(p))
		s.part = slices.IndexFunc(s.parts, func(part [2]int64) bool {
			return part[0] <= at && end <= part[1]
		})
		if s.part < 0 {
			return s.file.ReadAt(p, at)
		}
		s.span = s.file.Range(at, s.parts[s.part][1])
	}
	if _, err := io.CopyN(io.Discard, s.span, at-s.span.at); err != nil {
		return 0, err
	}
	n := min(int64(len(p)), s.parts[s.part][1]-at)
	read, err := s.span.ReadAt(p[:n], at)
	if err == nil && n < int64(len(p)) {
		more, err := s.file.ReadAt(p[n:], at+n)
		return read + more, err
	}
	return read, err
}

// Close ends the request.
func (s *Spans) Close() {
	if s.span != nil {
		s.span.Close()
		s.span = nil
	}
}

// Attempts without progress, and the pauses between them.
const (
	mostAttempts = 5
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// pause waits between attempts. Tests replace it.
var pause = func(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// attempts counts failures.
type attempts struct {
	ctx    context.Context
	failed int
}

func newAttempts(ctx context.Context) *attempts { return &attempts{ctx: ctx} }

// progress begins to count anew.
func (a *attempts) progress() { a.failed = 0 }

// again waits until another attempt makes sense, or returns why none does.
func (a *attempts) again(err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	var f *failure
	isFailure := errors.As(err, &f)
	if isFailure && !f.again || !isFailure && !mayPass(reason(err)) {
		return final(reason(err), "")
	}
	if a.failed++; a.failed >= mostAttempts {
		return final(reason(err), fmt.Sprintf(", after %d attempts", mostAttempts))
	}
	wait := firstPause << a.failed
	wait += rand.N(wait) // so that many readers do not come back together
	if isFailure {
		wait = max(wait, f.after)
	}
	pause(a.ctx, wait)
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return nil
}

// final makes a failure of an error after which there is no further attempt.
func final(err error, more string) error {
	if err == errChanged {
		return err
	}
	return &failure{text: err.Error() + more, err: err}
}

// reason returns an error without the request, which messages name anyway.
func reason(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// mayPass reports whether an error of the network may be gone a moment later. A
// host that is not known, or that refuses connections, stays so.
func mayPass(err error) bool {
	var network net.Error
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &name) && name.IsNotFound:
		return false
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return true
	}
	return errors.As(err, &network)
}
