package lsp_test

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// largeProgram has the given number of lines, in groups of ten that use what
// earlier groups derive.
func largeProgram(lines int) string {
	var b strings.Builder
	for i := range lines / 10 {
		fmt.Fprintf(&b, `// group %[1]d: edges with the names of their ends
edge%[1]d(x, y) -> int(x), int(y).
edge%[1]d(%[1]d, %[2]d).
name%[1]d[x] = s -> int(x), string(s).
path%[1]d(x, y) <- edge%[1]d(x, y).
path%[1]d(x, z) <- path%[1]d(x, y), edge%[1]d(y, z), x != z.
step%[1]d(x, y + 1) <- path%[1]d(x, y), !edge%[1]d(x, y), path%[3]d(_, y), y < 100.
label%[1]d[x] = name%[1]d[x] + "-" + name%[3]d[x + 1] <- path%[1]d(x, _).
count%[1]d[x] = n <- agg<<n = count()>> step%[1]d(x, _).
big%[1]d(s) <- label%[1]d[x] = s, 1 <= count%[1]d[x] < 10 ; label%[1]d[20] = s, s = "none".
`, i, i+1, max(i-1, 0))
	}
	return b.String()
}

// BenchmarkEdit types a character into a file of 5,000 lines, and waits for the
// reply to a request. The diagnostics come before it. The collector runs as
// seldom as in the command.
func BenchmarkEdit(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	c := newClient(b)
	c.call(b, "initialize", map[string]any{"capabilities": map[string]any{}})
	document := map[string]any{"uri": "file:///large.logic", "version": 1,
		"languageId": "logiql", "text": largeProgram(5000)}
	c.notify(b, "textDocument/didOpen", map[string]any{"textDocument": document})
	c.events(b)
	delete(document, "text")
	at := map[string]any{"line": 2504, "character": 8}
	for _, method := range []string{"hover", "completion", "semanticTokens/full"} {
		b.Run(method, func(b *testing.B) {
			for b.Loop() {
				c.notify(b, "textDocument/didChange", map[string]any{"textDocument": document,
					"contentChanges": []any{map[string]any{"text": "x",
						"range": map[string]any{"start": at, "end": at}}}})
				c.id++
				c.write(b, map[string]any{"jsonrpc": "2.0", "id": c.id,
					"method": "textDocument/" + method,
					"params": map[string]any{"textDocument": document, "position": at}})
				// Reading the reply as JSON would take longer than the edit.
				reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, c.id)
				for !bytes.HasPrefix(c.body(b), []byte(reply)) {
				}
			}
		})
	}
	c.stop(b)
}
