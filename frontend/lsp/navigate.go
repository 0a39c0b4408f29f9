package lsp

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
)

// pointed is what a position in a document points to.
type pointed struct {
	*snapshot
	program *program
	file    *file
	offset  int
	entry   *entry // nil where no name is
}

// point checks what has changed, and finds what a position points to. Where the
// clause has a syntax error, a name stands for the predicate that it means
// elsewhere in the program.
func (s *Server) point(uri string, at protocol.Position) (*pointed, *protocol.Error) {
	d, failure := s.document(uri)
	if failure != nil {
		return nil, failure
	}
	snap := s.refreshed(d)
	p := &pointed{snapshot: snap, program: d.program, file: snap.files[d.name]}
	p.offset = p.file.lines.offset(at)
	if p.file.index == nil {
		return p, nil
	}
	if p.entry = p.file.index.at(p.offset); p.entry == nil {
		p.entry = p.byName()
	}
	if p.entry != nil {
		if e := snap.qualifier(p.file, p.entry); e != nil && p.offset <= e.span.End {
			p.entry = e
		}
	}
	return p, nil
}

// refreshed returns the snapshot of the program of a document, after all
// programs have been checked.
func (s *Server) refreshed(d *document) *snapshot {
	s.idle()
	return s.current(d.program)
}

// byName returns an entry for the name at the offset, if it is that of a
// predicate, or nil.
func (p *pointed) byName() *entry {
	for _, t := range parse.Tokens(p.file.File) {
		if t.Span.Start > p.offset || t.Span.End < p.offset ||
			t.Kind != parse.Name && t.Kind != parse.Quoted {
			continue
		}
		at := unquoted(t.Span)
		if sym := p.meaning(at.Text()); sym != nil {
			return &entry{place{span: at}, sym}
		}
	}
	return nil
}

// meaning returns the predicate that a name stands for in the file, or nil.
func (p *pointed) meaning(name string) *symbol {
	for _, e := range p.file.index.entries {
		if e.kind == predicate && e.span.Text() == name {
			return e.symbol
		}
	}
	return p.preds[name]
}

// definition goes to the rules of a predicate, or else to its declaration or
// its first fact, and to the first occurrence of a variable.
func (s *Server) definition(p *protocol.TextDocumentPositionParams) (any, *protocol.Error) {
	return s.goTo(p, derived, declared, stated)
}

// declaration goes to the declaration of a predicate, or else to where it is
// defined.
func (s *Server) declaration(p *protocol.TextDocumentPositionParams) (any, *protocol.Error) {
	return s.goTo(p, declared, derived, stated)
}

// goTo returns the places of a symbol that have the first of some roles.
func (s *Server) goTo(p *protocol.TextDocumentPositionParams, roles ...role) (
	any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil || at.entry == nil {
		return nil, failure
	}
	places := at.entry.sorted()
	if at.entry.kind == variable {
		return []protocol.Location{at.location(places[0].span)}, nil
	}
	for _, r := range roles {
		out := []protocol.Location{}
		for _, x := range places {
			if x.role == r && (r != stated || len(out) == 0) {
				out = append(out, at.location(x.span))
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// sorted returns the places of a symbol by file and offset.
func (sym *symbol) sorted() []place {
	out := slices.Clone(sym.places)
	slices.SortStableFunc(out, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.span.File.Name, b.span.File.Name),
			cmp.Compare(a.span.Start, b.span.Start))
	})
	return out
}

// isOwn reports whether the program gives the symbol its meaning.
func (sym *symbol) isOwn() bool {
	return sym.kind == predicate || sym.kind == variable || sym.kind == blockName
}

// references lists the occurrences of a predicate, a variable or a block.
func (s *Server) references(p *protocol.ReferenceParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil || at.entry == nil || !at.entry.isOwn() {
		return nil, failure
	}
	out := []protocol.Location{}
	for _, x := range at.entry.sorted() {
		if p.Context.IncludeDeclaration || !x.role.defines() {
			out = append(out, at.location(x.span))
		}
	}
	return out, nil
}

// highlight marks the occurrences in the same document.
func (s *Server) highlight(p *protocol.TextDocumentPositionParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil || at.entry == nil || !at.entry.isOwn() {
		return nil, failure
	}
	out := []protocol.DocumentHighlight{}
	for _, x := range at.entry.sorted() {
		if x.span.File == at.file.File {
			kind := protocol.DocumentHighlightKindRead
			if x.role.defines() {
				kind = protocol.DocumentHighlightKindWrite
			}
			out = append(out, protocol.DocumentHighlight{Range: at.at(x.span), Kind: kind})
		}
	}
	return out, nil
}
