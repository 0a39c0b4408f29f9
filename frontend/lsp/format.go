package lsp

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
)

// formatting returns the edit that brings a document into canonical form. A
// document with syntax errors has none: its diagnostics say why.
func (s *Server) formatting(p *protocol.DocumentFormattingParams) (any, *protocol.Error) {
	d, failure := s.document(p.TextDocument.URI)
	if failure != nil {
		return nil, failure
	}
	edits := []protocol.TextEdit{}
	var list diag.List
	text := d.lines.text
	tree := parse.File(source.NewFile(d.name, text), &list)
	if list.HasErrors() || isProject(d.name) || isImport(d.name) {
		return edits, nil
	}
	if formatted := ast.Format(tree); formatted != text {
		edits = append(edits, d.lines.difference(formatted))
	}
	return edits, nil
}

// difference returns the replacement of the lines between the first and the
// last that differ from another text.
func (t *lineTable) difference(other string) protocol.TextEdit {
	text := t.text
	start := 0
	for start < len(text) && start < len(other) && text[start] == other[start] {
		start++
	}
	start = 1 + strings.LastIndexByte(text[:start], '\n')
	end, otherEnd := len(text), len(other)
	for end > start && otherEnd > start && text[end-1] == other[otherEnd-1] {
		end, otherEnd = end-1, otherEnd-1
	}
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 && end > start && text[end-1] != '\n' {
		end, otherEnd = end+n+1, otherEnd+n+1
	} else if n < 0 {
		end, otherEnd = len(text), len(other)
	}
	return protocol.TextEdit{Range: t.between(start, end), NewText: other[start:otherEnd]}
}
