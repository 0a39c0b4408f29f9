package lsp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend/lsp"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// TestScripts plays the sessions in testdata/sessions: each is a conversation
// of an editor with the server.
//
//	file NAME            writes its input to a file on disk
//	start [show]         begins the conversation; its input is the parameters of
//	                     initialize, with DIR for the folder of the test; with
//	                     show, the reply is shown
//	open NAME            opens a document with its input as text
//	change NAME RANGE    replaces a range of it, or all without a RANGE
//	close NAME           closes it
//	notify METHOD        sends a notification with its input as parameters
//	METHOD NAME PLACE    sends a request about a place in a document, with its
//	                     input as further parameters
//	send                 sends its input as the body of a message, as it is
//
// A place is LINE:COLUMN and a range PLACE-PLACE, counted from 1, in UTF-16
// code units. Replies show them so, too. A document is shown by its name. What
// the server sends by itself until it waits again comes before the reply.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/sessions", func(t *testing.T, path string) {
		c := newClient(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return c.play(t, d)
		})
		c.stop(t)
	})
}

// client is the editor's end of a conversation.
type client struct {
	dir      string
	out      io.WriteCloser
	in       *bufio.Reader
	done     chan error // the result of the server
	id       int
	versions map[string]int
	pending  []map[string]any // messages that are not shown yet
	logged   bytes.Buffer
}

func newClient(t testing.TB) *client {
	toServer, out := io.Pipe()
	in, fromServer := io.Pipe()
	c := &client{dir: t.TempDir(), out: out, in: bufio.NewReader(in), done: make(chan error, 1),
		versions: map[string]int{}}
	s := lsp.New(toServer, fromServer, "v1.0.0", func(text string) { c.logged.WriteString(text) })
	go func() {
		c.done <- s.Run(context.Background())
		_ = fromServer.Close() // a reader gets io.EOF
	}()
	return c
}

// stop ends the conversation as an editor does.
func (c *client) stop(t testing.TB) {
	c.call(t, "shutdown", nil)
	c.write(t, map[string]any{"jsonrpc": "2.0", "method": "exit"})
	if err := <-c.done; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if c.logged.Len() > 0 {
		t.Errorf("the server logs %s", c.logged.String())
	}
}

func (c *client) play(t *testing.T, d *datadriven.TestData) string {
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	document := map[string]any{"uri": c.uri(name)}
	switch d.Cmd {
	case "file":
		file := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(d.Input+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return ""
	case "start":
		reply := c.call(t, "initialize", c.input(t, d.Input))
		c.notify(t, "initialized", map[string]any{})
		if name == "" && reply["error"] == nil {
			return c.events(t)
		}
		return c.show(reply) + c.events(t)
	case "open":
		document["languageId"], document["version"] = "logiql", 1
		document["text"] = d.Input + "\n"
		c.versions[name] = 1
		c.notify(t, "textDocument/didOpen", map[string]any{"textDocument": document})
	case "change":
		c.versions[name]++
		document["version"] = c.versions[name]
		change := map[string]any{"text": d.Input}
		if len(d.CmdArgs) > 1 {
			start, end, _ := strings.Cut(d.CmdArgs[1].Key, "-")
			change["range"] = map[string]any{"start": place(t, start), "end": place(t, end)}
		} else {
			change["text"] = d.Input + "\n"
		}
		c.notify(t, "textDocument/didChange",
			map[string]any{"textDocument": document, "contentChanges": []any{change}})
	case "close":
		c.notify(t, "textDocument/didClose", map[string]any{"textDocument": document})
	case "notify":
		c.notify(t, name, c.input(t, d.Input))
	case "send":
		c.frame(t, []byte(d.Input))
	default:
		params := c.input(t, d.Input)
		if name != "" {
			params["textDocument"] = document
		}
		if len(d.CmdArgs) > 1 {
			params["position"] = place(t, d.CmdArgs[1].Key)
		}
		reply := c.call(t, d.Cmd, params)
		return c.events(t) + c.show(reply)
	}
	return c.events(t)
}

// input reads parameters, which may be left out.
func (c *client) input(t testing.TB, text string) map[string]any {
	params := map[string]any{}
	text = strings.ReplaceAll(text, "DIR", "file://"+filepath.ToSlash(c.dir))
	if text != "" {
		if err := json.Unmarshal([]byte(text), &params); err != nil {
			t.Fatal(err)
		}
	}
	return params
}

func (c *client) uri(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return "file://" + filepath.ToSlash(filepath.Join(c.dir, name))
}

// place reads LINE:COLUMN.
func place(t testing.TB, text string) map[string]any {
	var p protocol.Position
	if _, err := fmt.Sscanf(text, "%d:%d", &p.Line, &p.Character); err != nil {
		t.Fatalf("%q is no place: %v", text, err)
	}
	return map[string]any{"line": p.Line - 1, "character": p.Character - 1}
}

func (c *client) notify(t testing.TB, method string, params any) {
	c.write(t, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// call sends a request and returns its reply. Other messages stay pending.
func (c *client) call(t testing.TB, method string, params any) map[string]any {
	c.id++
	c.write(t, map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	return c.until(t, c.id)
}

// until reads messages up to the reply with an ID.
func (c *client) until(t testing.TB, id int) map[string]any {
	for {
		m := c.read(t)
		if got, ok := m["id"].(float64); ok && int(got) == id && m["method"] == nil {
			return m
		}
		c.pending = append(c.pending, m)
	}
}

// events waits until the server has checked everything, and shows what it has
// sent. It does so before it answers a request about the workspace.
func (c *client) events(t testing.TB) string {
	c.call(t, "workspace/symbol", map[string]any{"query": "\n"})
	out := ""
	for _, m := range c.pending {
		out += c.show(m)
	}
	c.pending = nil
	return out
}

func (c *client) write(t testing.TB, message any) {
	body, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	c.frame(t, body)
}

func (c *client) frame(t testing.TB, body []byte) {
	if _, err := fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
}

func (c *client) read(t testing.TB) (m map[string]any) {
	if err := json.Unmarshal(c.body(t), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// body reads a message.
func (c *client) body(t testing.TB) []byte {
	header, err := textproto.NewReader(c.in).ReadMIMEHeader()
	if err != nil {
		t.Fatalf("the server has left: %v; %s", err, c.logged.String())
	}
	n := 0
	if _, err := fmt.Sscan(header.Get("Content-Length"), &n); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		t.Fatal(err)
	}
	return body
}

// show prints a message: its method and parameters, its result or its error.
func (c *client) show(m map[string]any) string {
	switch {
	case m["method"] != nil:
		return fmt.Sprintf("%s\n%s", m["method"], c.text(m["params"], "  "))
	case m["error"] != nil:
		return "error\n" + c.text(m["error"], "  ")
	}
	if result, ok := m["result"].(map[string]any); ok && result["data"] != nil {
		return semanticTokens(result["data"].([]any))
	}
	return c.text(m["result"], "")
}

// semanticTokens prints one token a line: its place and length, its type and
// its modifiers by their numbers.
func semanticTokens(data []any) string {
	var b strings.Builder
	line, column := 1, 1
	for len(data) > 0 {
		var n [5]int
		for i := range n {
			n[i] = int(data[i].(float64))
		}
		if n[0] > 0 {
			line, column = line+n[0], 1
		}
		column += n[1]
		fmt.Fprintf(&b, "%d:%d +%d %s %d\n", line, column, n[2], tokenTypes[n[3]], n[4])
		data = data[5:]
	}
	return b.String()
}

// tokenTypes are those of the legend. The session of semantic tokens shows it.
var tokenTypes = []string{"function", "class", "type", "variable", "macro", "keyword", "comment",
	"string", "number", "operator"}

// text prints a value as YAML would, with places and ranges in short.
func (c *client) text(v any, indent string) string {
	var b strings.Builder
	switch v := v.(type) {
	case map[string]any:
		if short := shortPlace(v); short != "" {
			return indent + short + "\n"
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(indent + c.name(key) + ":" + c.inside(v[key], indent))
		}
	case []any:
		for _, x := range v {
			b.WriteString(indent + "-" + strings.Replace(c.inside(x, indent), "\n"+indent+"  ", " ", 1))
		}
		if len(v) == 0 {
			return indent + "[]\n"
		}
	case string:
		text := c.name(v)
		if strings.Contains(text, "\n") {
			lines := strings.Split(text, "\n")
			text = "|"
			for _, line := range lines {
				text += "\n" + strings.TrimRight(indent+"  "+line, " ")
			}
		}
		return indent + text + "\n"
	default:
		return fmt.Sprintf("%s%v\n", indent, v)
	}
	return b.String()
}

// inside prints a value behind a key, on the same line if it fits.
func (c *client) inside(v any, indent string) string {
	text := c.text(v, indent+"  ")
	_, isString := v.(string)
	if first, rest, _ := strings.Cut(text, "\n"); rest == "" && !isMap(v) || isString {
		return " " + strings.TrimLeft(first, " ") + "\n" + rest
	}
	return "\n" + text
}

func isMap(v any) bool {
	m, ok := v.(map[string]any)
	return ok && shortPlace(m) == ""
}

// shortPlace prints a position or a range.
func shortPlace(m map[string]any) string {
	if len(m) != 2 {
		return ""
	}
	if line, ok := m["line"].(float64); ok {
		return fmt.Sprintf("%d:%d", int(line)+1, int(m["character"].(float64))+1)
	}
	start, ok1 := m["start"].(map[string]any)
	end, ok2 := m["end"].(map[string]any)
	if ok1 && ok2 {
		return shortPlace(start) + "-" + shortPlace(end)
	}
	return ""
}

// name replaces the folder of the test.
func (c *client) name(text string) string {
	dir := filepath.ToSlash(c.dir)
	text = strings.ReplaceAll(text, "file://"+dir+"/", "")
	return strings.ReplaceAll(text, dir, "DIR")
}
