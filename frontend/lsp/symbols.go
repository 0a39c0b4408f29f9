package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// documentSymbol lists the predicates that a document defines, each where it is
// declared or else where it first occurs in a head.
func (s *Server) documentSymbol(p *protocol.DocumentSymbolParams) (any, *protocol.Error) {
	d, failure := s.document(p.TextDocument.URI)
	if failure != nil {
		return nil, failure
	}
	snap := s.refreshed(d)
	out := []protocol.DocumentSymbol{}
	f := snap.files[d.name]
	if f.index == nil {
		return out, nil
	}
	for _, e := range f.index.entries {
		if e.kind != predicate || !e.role.defines() || e.home(f) != e.place {
			continue
		}
		out = append(out, protocol.DocumentSymbol{Name: e.span.Text(), Detail: e.detail(d.program),
			Kind: e.symbolKind(), Range: snap.at(e.clause.Span), SelectionRange: snap.at(e.span)})
	}
	return out, nil
}

// home returns the place that stands for a predicate in a file, or in all files
// if it is nil.
func (sym *symbol) home(f *file) (home place) {
	for _, x := range sym.places {
		if !x.role.defines() || f != nil && x.span.File != f.File {
			continue
		}
		if home.clause == nil || x.role == declared && home.role != declared {
			home = x
		}
	}
	return home
}

// symbolKind returns the kind of the protocol that fits a predicate best.
func (sym *symbol) symbolKind() protocol.SymbolKind {
	switch p := sym.pred; {
	case p == nil:
	case len(p.Args) == 1 && p.Args[0].Entity == p.Name:
		return protocol.SymbolKindClass
	case p.Functional():
		return protocol.SymbolKindFunction
	}
	return protocol.SymbolKindStruct
}

// workspaceSymbol lists the predicates of all open programs whose names have
// the letters of a query, in order.
func (s *Server) workspaceSymbol(p *protocol.WorkspaceSymbolParams) (any, *protocol.Error) {
	s.idle()
	out := []protocol.WorkspaceSymbol{}
	for _, program := range s.sortedPrograms() {
		snap := s.current(program)
		for _, name := range slices.Sorted(maps.Keys(snap.preds)) {
			sym := snap.preds[name]
			home := sym.home(nil)
			if home.clause == nil || !matches(name, p.Query) {
				continue
			}
			out = append(out, protocol.WorkspaceSymbol{Name: name, Kind: sym.symbolKind(),
				Location: snap.location(home.span)})
		}
	}
	return out, nil
}

// matches reports whether a name has the letters of a query in order.
func matches(name, query string) bool {
	name = strings.ToLower(name)
	for _, r := range strings.ToLower(query) {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}
