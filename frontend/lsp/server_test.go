package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// runningServer returns a server that has been initialized, and what it writes.
func runningServer(t testing.TB) (*Server, *bytes.Buffer) {
	out := &bytes.Buffer{}
	s := New(strings.NewReader(""), out, "v1.0.0", func(text string) { t.Log(text) })
	s.state = running
	return s, out
}

// TestCancel does not do a request that is cancelled before its turn.
func TestCancel(t *testing.T) {
	s, out := runningServer(t)
	request := &protocol.Message{ID: json.RawMessage(`"a"`), Method: "workspace/symbol"}
	s.waiting.note(request)
	s.waiting.note(&protocol.Message{Method: "$/cancelRequest",
		Params: json.RawMessage(`{"id": "a"}`)})
	s.message(request)
	if !strings.Contains(out.String(), `"id":"a","error":{"code":-32800,`) {
		t.Errorf("got %s", out)
	}
	// A cancellation that comes late leaves nothing behind.
	s.waiting.note(&protocol.Message{Method: "$/cancelRequest",
		Params: json.RawMessage(`{"id": "a"}`)})
	if n := len(s.waiting.cancelled); n != 0 {
		t.Errorf("%d requests are remembered", n)
	}
}

// TestPanic answers a request that fails, and goes on.
func TestPanic(t *testing.T) {
	requests["test/panic"] = request(func(*Server, *json.RawMessage) (any, *protocol.Error) {
		panic("a bug")
	})
	defer delete(requests, "test/panic")
	s, out := runningServer(t)
	logged := ""
	s.log = func(text string) { logged += text }
	s.message(&protocol.Message{ID: json.RawMessage("1"), Method: "test/panic"})
	s.message(&protocol.Message{ID: json.RawMessage("2"), Method: "workspace/symbol"})
	if !strings.Contains(out.String(), `"id":1,"error":{"code":-32603,`) ||
		!strings.Contains(out.String(), `"id":2,"result":[]`) {
		t.Errorf("got %s", out)
	}
	if !strings.Contains(logged, "a bug") || !strings.Contains(logged, "server_test.go") {
		t.Errorf("logged %s", logged)
	}
}

// TestInterrupted ends a server that waits for a message.
func TestInterrupted(t *testing.T) {
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.ErrClosedPipe)
	s := New(in, io.Discard, "", func(string) {})
	if err := s.Run(ctx); err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
}

// TestNames converts names of files, on Windows too.
func TestNames(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b%20c/%C3%A9.logic": "/a/b c/é.logic",
		"file:///C%3A/x/p.logic":       "C:/x/p.logic",
		"untitled:Untitled-1":          "untitled:Untitled-1",
		"::%zz":                        "::%zz",
	} {
		if got := fileName(uri); got != want {
			t.Errorf("%s is %s, not %s", uri, got, want)
		}
	}
	if got := fileURI("/a/b c/é#1.logic"); got != "file:///a/b%20c/%C3%A9%231.logic" {
		t.Errorf("got %s", got)
	}
}

// FuzzPositions compares positions with those in the UTF-16 text.
func FuzzPositions(f *testing.F) {
	f.Add(mixed)
	f.Add("\r\r\n\n\x00\xff\u2028\U0010ffff")
	f.Fuzz(func(t *testing.T, text string) {
		table := newLineTable(text)
		line, column := 0, 0
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			want := protocol.Position{Line: line, Character: column}
			if got := table.position(i); got != want {
				t.Fatalf("offset %d is %v, not %v", i, got, want)
			}
			if got := table.offset(want); got != i && (r != '\n' || i > 0 && text[i-1] != '\r') {
				t.Fatalf("%v is offset %d, not %d", want, got, i)
			}
			column += len(utf16.Encode([]rune{r}))
			i += size
			if r == '\n' || r == '\r' && !strings.HasPrefix(text[i:], "\n") {
				line, column = line+1, 0
			}
		}
	})
}

// TestDescriptions wants text for each word that is built in.
func TestDescriptions(t *testing.T) {
	words := map[string]func(string) string{}
	add := func(names []string, describe func(string) string) {
		for _, name := range names {
			words[name] = describe
		}
	}
	add(scalar.Names(), describeFunction)
	add(vocabulary.AggregationNames(), describeAggregation)
	add(vocabulary.DirectiveNames(), describeDirective)
	for _, typ := range vocabulary.Types {
		add([]string{typeWord(typ)}, describeType)
		if !scalar.IsPrimitive(typeWord(typ)) {
			t.Errorf("%s is no type", typeWord(typ))
		}
	}
	for name, describe := range words {
		if !strings.HasPrefix(describe(name), "```logiql\n") {
			t.Errorf("%s has the description %q", name, describe(name))
		}
	}
}
