package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/short"
)

// ask sends a request to a server, and returns its result. A failure of redfox
// itself fails the test.
func ask(t *testing.T, s *Server, method string, params any) (
	result any, wrong *protocol.Error) {
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	err = s.guarded(func() {
		result, wrong = requests[method](s, text)
	})
	if err != nil {
		t.Fatalf("%s %s: %v", method, text, err)
	}
	return result, wrong
}

// open gives a server a document.
func open(t *testing.T, s *Server, text string) {
	err := s.guarded(func() {
		s.didOpen(&protocol.DidOpenTextDocumentParams{
			TextDocument: protocol.TextDocumentItem{URI: "untitled:p", Text: text}})
		s.idle()
	})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
}

// TestEverywhere asks about each token of the programs of testdata, whole and
// cut off at places all over their texts.
func TestEverywhere(t *testing.T) {
	texts := programs(t)
	texts["peculiar"] = peculiar
	methods := []string{"hover", "definition", "declaration", "references", "documentHighlight",
		"prepareRename", "completion"}
	document := protocol.TextDocumentIdentifier{URI: "untitled:p"}
	for _, name := range short.Part(t, slices.Sorted(maps.Keys(texts)), "programs") {
		text := texts[name]
		s, _ := runningServer(t)
		for cut := 0; cut < 4; cut++ {
			part := text[:len(text)-len(text)*(cut*13)/50]
			open(t, s, part)
			table := newLineTable(part)
			for i, token := range parse.Tokens(source.NewFile("", part)) {
				at := table.position(token.Span.End)
				if i%7 == cut {
					for _, m := range methods {
						ask(t, s, "textDocument/"+m, protocol.ReferenceParams{TextDocument: document,
							Position: at})
					}
				}
			}
			ask(t, s, "textDocument/documentSymbol", map[string]any{"textDocument": document})
			ask(t, s, "textDocument/formatting", map[string]any{"textDocument": document})
			tokens, _ := ask(t, s, "textDocument/semanticTokens/full",
				map[string]any{"textDocument": document})
			checkTokens(t, name, part, tokens.(protocol.SemanticTokens).Data)
		}
	}
}

// checkTokens wants semantic tokens in order, inside their lines, and apart.
func checkTokens(t *testing.T, name, text string, data []int) {
	table := newLineTable(text)
	line, column, end := 0, 0, 0
	for ; len(data) > 0; data = data[5:] {
		if data[0] > 0 {
			column, end = 0, 0
		}
		line, column = line+data[0], column+data[1]
		start := protocol.Position{Line: line, Character: column}
		stop := protocol.Position{Line: line, Character: column + data[2]}
		if column < end || data[2] <= 0 || table.position(table.offset(stop)) != stop ||
			table.position(table.offset(start)) != start {
			t.Fatalf("%s: token at %v of length %d after one that ends at %d", name, start, data[2],
				end)
		}
		end = column + data[2]
	}
}

// TestRenameEverything renames each predicate and each variable of the programs
// of testdata to a name that is new, and expects a program with the same
// diagnostics.
func TestRenameEverything(t *testing.T) {
	texts := programs(t)
	renamed, refused := 0, 0
	for _, name := range short.Part(t, slices.Sorted(maps.Keys(texts)), "programs") {
		text := texts[name]
		s, _ := runningServer(t)
		open(t, s, text)
		before := s.documents["untitled:p"].program.now
		seen := map[*symbol]bool{}
		for _, e := range before.files["untitled:p"].index.entries {
			if seen[e.symbol] || !e.isOwn() || isQuery(e.name) || e.kind == blockName {
				continue
			}
			seen[e.symbol] = true
			to := "zz" + fmt.Sprint(len(seen))
			if strings.HasPrefix(e.ownName(), "_") {
				to = "_" + to
			}
			result, wrong := ask(t, s, "textDocument/rename", protocol.RenameParams{
				TextDocument: protocol.TextDocumentIdentifier{URI: "untitled:p"},
				Position:     before.at(e.span).End, NewName: to})
			edit, ok := result.(protocol.WorkspaceEdit)
			if !ok {
				// Strings name columns, and parts of blocks name predicates.
				if !strings.Contains(wrong.Message, "the program has an error") {
					t.Errorf("%s: %s is not renamed to %s: %v", name, e.span.Text(), to, wrong)
				}
				refused++
				continue
			}
			renamed++
			table := newLineTable(text)
			after := text
			for _, x := range slices.Backward(edit.Changes["untitled:p"]) {
				after = after[:table.offset(x.Range.Start)] + x.NewText +
					after[table.offset(x.Range.End):]
			}
			want := 0 // a place may have an alias
			for _, x := range e.places {
				if strings.HasSuffix(x.span.Text(), e.ownName()) {
					want++
				}
			}
			if n := strings.Count(after, to); n < want {
				t.Errorf("%s: %s is written %d times, not %d", name, to, n, want)
			}
		}
	}
	if renamed < 10*refused {
		t.Errorf("%d names are renamed, and %d refused", renamed, refused)
	}
}
