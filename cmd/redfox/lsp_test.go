package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestLSP has a conversation with the language server: it opens a program with
// a mistake and gets the diagnostic.
func TestLSP(t *testing.T) {
	flags := []string{"lsp"}
	converse := func(bodies ...string) outcome {
		var in strings.Builder
		for _, body := range bodies {
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		cmd := redfoxProcess(t, t.TempDir(), flags...)
		cmd.Stdin = strings.NewReader(in.String())
		return finish(t, cmd)
	}
	hello := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":` +
			`{"uri":"file:///p.logic","languageId":"logiql","version":3,"text":"p(x) <- q(x"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"textDocument/documentSymbol","params":` +
			`{"textDocument":{"uri":"file:///p.logic"}}}`,
	}
	got := converse(append(hello, `{"jsonrpc":"2.0","id":3,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`)...)
	if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, `"code":"RF0003"`) {
		t.Errorf("got\n%s", got)
	}
	// VS Code's client adds the name of the transport.
	flags = append(flags, "--stdio")
	if again := converse(append(hello, `{"jsonrpc":"2.0","id":3,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`)...); again != got {
		t.Errorf("with --stdio:\n%s", again)
	}
	// An editor that dies leaves no process behind.
	if got = converse(hello...); got.code != 1 || got.stderr != "" {
		t.Errorf("without shutdown:\n%s", got)
	}
	got = converse("{}{")
	if !strings.Contains(got.stdout, "-32700") || got.code != 1 {
		t.Errorf("a broken message:\n%s", got)
	}
}
