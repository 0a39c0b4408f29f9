package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/internal/failure"
)

// Server answers one editor.
type Server struct {
	conn    *protocol.Conn
	version string // of redfox
	log     func(string)

	state    state
	folders  []string // of the workspace
	snippets bool     // the editor takes completions with places to fill in
	watches  bool     // the editor reports files that change on disk

	documents map[string]*document // by file name
	programs  map[string]*program  // by root
	marked    map[string]bool      // files whose diagnostics the editor shows
	waiting   waiting
	broken    error // of the last write
}

// state is how far the conversation is.
type state uint8

const (
	starting state = iota
	running
	stopping // after the request shutdown
	ended    // after the notification exit
)

// New returns a server over two streams. Log gets a line about each failure of
// redfox itself.
func New(in io.Reader, out io.Writer, version string, log func(string)) *Server {
	return &Server{conn: protocol.NewConn(in, out), version: version, log: log,
		documents: map[string]*document{}, programs: map[string]*program{},
		marked: map[string]bool{}, waiting: waiting{cancelled: map[string]bool{}}}
}

// ErrNoShutdown is the error of a conversation that ends without the request
// shutdown.
var ErrNoShutdown = errors.New("the editor has left without the request shutdown")

// queued bounds the messages that are read ahead.
const queued = 1024

// incoming is what the reader has got.
type incoming struct {
	message *protocol.Message
	err     error
}

// Run serves until the editor leaves or the context is done.
func (s *Server) Run(ctx context.Context) error {
	queue := make(chan incoming, queued)
	go s.read(ctx, queue)
	for s.state != ended && s.broken == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case in := <-queue:
			var wrong *protocol.Error
			switch {
			case in.err == nil:
				s.message(in.message)
			case errors.As(in.err, &wrong):
				s.reply(nil, nil, wrong)
			case errors.Is(in.err, io.EOF) && s.state == stopping:
				return nil
			case errors.Is(in.err, io.EOF):
				return ErrNoShutdown
			default:
				return in.err
			}
		}
		if len(queue) == 0 {
			s.idle()
		}
	}
	return s.broken
}

// read passes messages on until the connection ends.
func (s *Server) read(ctx context.Context, queue chan<- incoming) {
	for {
		m, err := s.conn.Read()
		if err == nil {
			s.waiting.note(m)
		}
		select {
		case queue <- incoming{m, err}:
		case <-ctx.Done():
			return
		}
		var wrong *protocol.Error
		if err != nil && !errors.As(err, &wrong) {
			return
		}
	}
}

// idle checks the programs that have changed, while the editor asks nothing. If
// the check of one fails, the others are checked nevertheless.
func (s *Server) idle() {
	for _, p := range s.sortedPrograms() {
		s.guarded(func() { s.current(p) })
	}
	s.guarded(s.clear)
}

// message handles one message.
func (s *Server) message(m *protocol.Message) {
	switch {
	case m.IsRequest() && s.waiting.isCancelled(m):
		s.reply(m.ID, nil, &protocol.Error{Code: int(protocol.LSPErrorCodesRequestCancelled),
			Message: "the request was cancelled"})
	case m.IsRequest():
		var result any
		var wrong *protocol.Error
		if err := s.guarded(func() { result, wrong = s.request(m) }); err != nil {
			wrong = &protocol.Error{Code: int(protocol.ErrorCodesInternalError),
				Message: err.Error()}
		}
		s.reply(m.ID, result, wrong)
	case m.Method != "":
		s.guarded(func() { s.notification(m) })
	}
	// The responses to client/registerCapability remain.
}

// guarded runs f, and logs and returns its panic.
func (s *Server) guarded(f func()) (err error) {
	defer func() {
		var internal *failure.Internal
		if errors.As(err, &internal) {
			s.log(err.Error() + "\n" + internal.Stack)
		}
	}()
	defer failure.Recover("the language server", &err)
	f()
	return nil
}

func (s *Server) reply(id json.RawMessage, result any, wrong *protocol.Error) {
	s.written(s.conn.Reply(id, result, wrong))
}

func (s *Server) notify(method string, params any) { s.written(s.conn.Notify(method, params)) }

// written keeps the error of a write, which ends the conversation.
func (s *Server) written(err error) {
	if err != nil && s.broken == nil {
		s.broken = err
	}
}

// waiting has the requests that are not answered yet, and which of them are
// cancelled. The reader and the server share it.
type waiting struct {
	mu        sync.Mutex
	cancelled map[string]bool // by ID
}

// note enters a request, or the cancellation of one.
func (w *waiting) note(m *protocol.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.IsRequest() {
		w.cancelled[string(m.ID)] = false
	}
	var p protocol.CancelParams
	if m.Method == "$/cancelRequest" && json.Unmarshal(m.Params, &p) == nil {
		if _, ok := w.cancelled[string(p.ID)]; ok {
			w.cancelled[string(p.ID)] = true
		}
	}
}

// isCancelled reports whether a request is cancelled. It is no longer waiting
// then.
func (w *waiting) isCancelled(m *protocol.Message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	is := w.cancelled[string(m.ID)]
	delete(w.cancelled, string(m.ID))
	return is
}
