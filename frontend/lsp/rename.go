package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// prepareRename says which text a rename would replace, or nil if the name
// cannot be renamed.
func (s *Server) prepareRename(p *protocol.TextDocumentPositionParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil || !at.isRenamable() {
		return nil, failure
	}
	span := at.own(at.entry.symbol, at.entry.span)
	return protocol.PrepareRenamePlaceholder{Range: at.at(span), Placeholder: span.Text()}, nil
}

// rename replaces the occurrences of a predicate in all files of its program,
// or of a variable in its clause. It refuses names that would change what the
// program means.
func (s *Server) rename(p *protocol.RenameParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	switch {
	case failure != nil:
		return nil, failure
	case !at.isRenamable():
		return nil, protocol.Failed("there is no name of a predicate or a variable here; an alias " +
			"stands for one")
	}
	if failure := at.mayBecome(p.NewName); failure != nil {
		return nil, failure
	}
	spans := map[string][]source.Span{} // by file
	for _, x := range at.entry.sorted() {
		if span := at.own(at.entry.symbol, x.span); span.IsValid() {
			name := span.File.Name
			spans[name] = append(spans[name], span)
		}
	}
	if failure := at.keepsMeaning(spans, p.NewName); failure != nil {
		return nil, failure
	}
	edit := protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{}}
	for name, list := range spans {
		uri := fileURI(name)
		for _, span := range list {
			edit.Changes[uri] = append(edit.Changes[uri],
				protocol.TextEdit{Range: at.at(span), NewText: p.NewName})
		}
	}
	return edit, nil
}

// isRenamable reports whether the position points to a name that the program
// gives, which an alias in a block is not.
func (p *pointed) isRenamable() bool {
	return p.entry != nil && p.entry.isOwn() && p.entry.kind != blockName &&
		!isQuery(p.entry.name) &&
		p.own(p.entry.symbol, p.entry.span).IsValid()
}

// isQuery reports whether a predicate is the answer predicate.
func isQuery(name string) bool { return strings.Trim(name, "_0123456789") == "" }

// own returns the part of an occurrence that is the symbol's own name: without
// the name of a block before it. It is nowhere if the occurrence is an alias.
func (p *pointed) own(sym *symbol, at source.Span) source.Span {
	name := sym.ownName()
	text := at.Text()
	if text != name && !strings.HasSuffix(text, ":"+name) {
		return source.Span{}
	}
	at.Start = at.End - len(name)
	return at
}

// ownName returns the name of a symbol where it is defined.
func (sym *symbol) ownName() string {
	if home := sym.home(nil); sym.kind == predicate && home.clause != nil {
		return home.span.Text()
	}
	for _, x := range sym.places {
		if sym.kind == blockName && x.role.defines() {
			return x.span.Text()
		}
	}
	return sym.places[0].span.Text()
}

// mayBecome checks a new name by itself.
func (p *pointed) mayBecome(name string) *protocol.Error {
	e := p.entry
	tokens := parse.Tokens(source.NewFile("", name))
	isName := len(tokens) == 1 && tokens[0].Kind == parse.Name && !isQuery(name) &&
		tokens[0].Span.End == len(name) && name != "true" && name != "false"
	if e.kind == variable {
		switch {
		case !isName || strings.ContainsAny(name, ":$"):
			return protocol.Failed("%q is not the name of a variable", name)
		case slices.ContainsFunc(p.file.index.entries, func(x entry) bool {
			return x.place.clause == e.place.clause && x.kind == variable && x.name == name &&
				x.symbol != e.symbol
		}):
			return protocol.Failed("the clause has a variable %s already", name)
		}
		return nil
	}
	own := e.ownName()
	qualifier := strings.TrimSuffix(e.name, own)
	switch {
	case !isName || strings.HasPrefix(name, "?") || strings.HasPrefix(name, "lang:"):
		return protocol.Failed("%q is not the name of a predicate", name)
	case scalar.IsBuiltin(name), scalar.IsPrimitive(name):
		return protocol.Failed("%s is built in", name)
	case strings.HasPrefix(name, "_") != strings.HasPrefix(own, "_"):
		return protocol.Failed("a predicate whose name begins with _ belongs to its file alone, " +
			"and others do not")
	case p.preds[qualifier+name] != nil:
		return protocol.Failed("there is a predicate %s already", name)
	case p.hasSyntaxErrors():
		return protocol.Failed("the program has syntax errors, and the clauses that have them would " +
			"keep the old name")
	}
	return nil
}

// keepsMeaning checks the program with a new name in some places: the symbol
// must occur as often as before, and there must be no new errors.
func (p *pointed) keepsMeaning(spans map[string][]source.Span, name string) *protocol.Error {
	var files []*file
	offset := 0
	for _, f := range p.order {
		text, moved := replaced(f.Text, spans[f.Name], name, p.entry.span.Start)
		if f == p.file {
			offset = moved
		}
		files = append(files, &file{File: source.NewFile(f.Name, text), lines: newLineTable(text)})
	}
	after := analyse(files, &diag.List{})
	e := after.files[p.file.Name].index.at(offset)
	before := p.errors()
	for _, message := range slices.Sorted(maps.Keys(after.errors())) {
		if !before[message] {
			return protocol.Failed("with the name %s, the program has an error: %s", name, message)
		}
	}
	if e == nil || len(e.places) != len(p.entry.places) {
		return protocol.Failed("%s has another meaning in a place where %s is written now", name,
			p.entry.span.Text())
	}
	return nil
}

// replaced returns a text with a name in some spans, which are sorted, and the
// place to which an offset has moved.
func replaced(text string, spans []source.Span, name string, offset int) (string, int) {
	var b strings.Builder
	last, moved := 0, offset
	for _, span := range spans {
		b.WriteString(text[last:span.Start] + name)
		last = span.End
		if span.End <= offset {
			moved += len(name) - (span.End - span.Start)
		}
	}
	return b.String() + text[last:], moved
}

// errors returns the headlines of the errors of a program.
func (s *snapshot) errors() map[string]bool {
	out := map[string]bool{}
	for _, d := range s.found {
		if d.Severity == diag.Error {
			out[d.Message] = true
		}
	}
	return out
}
