package lsp

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// codeAction offers the fixes of the diagnostics that touch a range.
func (s *Server) codeAction(p *protocol.CodeActionParams) (any, *protocol.Error) {
	d, failure := s.document(p.TextDocument.URI)
	if failure != nil {
		return nil, failure
	}
	out := []protocol.CodeAction{}
	if !wantsFixes(p.Context.Only) {
		return out, nil
	}
	snap := s.refreshed(d)
	lines := snap.files[d.name].lines
	start, end := lines.offset(p.Range.Start), lines.offset(p.Range.End)
	for _, found := range snap.found {
		at := found.Span
		if !at.IsValid() || at.File.Name != d.name || at.End < start || end < at.Start {
			continue
		}
		for _, fix := range found.Fixes {
			name := fix.Span.File.Name
			out = append(out, protocol.CodeAction{
				Title: fix.Title(), Kind: protocol.CodeActionKindQuickFix,
				Diagnostics: []protocol.Diagnostic{snap.diagnostic(found)},
				IsPreferred: len(found.Fixes) == 1,
				Edit: &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{
					fileURI(name): {{Range: snap.at(fix.Span), NewText: fix.Text}}}},
			})
		}
	}
	return out, nil
}

// wantsFixes reports whether an editor that asks for some kinds of actions
// alone asks for fixes. A kind includes those that it is a prefix of.
func wantsFixes(only []protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(kind protocol.CodeActionKind) bool {
		return kind == "" || strings.HasPrefix(string(protocol.CodeActionKindQuickFix)+".",
			string(kind)+".")
	})
}
