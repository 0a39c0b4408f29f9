package lsp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// completion offers names for the one that is being written.
func (s *Server) completion(p *protocol.CompletionParams) (any, *protocol.Error) {
	at, failure := s.point(p.TextDocument.URI, p.Position)
	if failure != nil {
		return nil, failure
	}
	c := completer{pointed: at, snippets: s.snippets,
		list: protocol.CompletionList{Items: []protocol.CompletionItem{}}}
	if at.file.index != nil && c.look() {
		c.offer()
	}
	return c.list, nil
}

// completer collects the names that fit at a position.
type completer struct {
	*pointed
	snippets bool
	list     protocol.CompletionList

	written    source.Span // what is replaced, which is empty or a name
	prefix     string      // of it, before the position
	quoted     bool        // it stands behind a backquote
	aggregates bool        // it stands in agg<<>>
	numbers    bool        // it stands in seq<<>>
	alias      bool        // it is the block of an alias
	called     bool        // arguments stand behind it
	variables  []string    // of the clause
}

// look finds out what is being written. It reports false in comments and
// literals, where no names are.
func (c *completer) look() bool {
	tokens := parse.Tokens(c.file.File)
	c.written = source.Span{File: c.file.File, Start: c.offset, End: c.offset}
	next := len(tokens) // the first token behind the position
	current := -1       // the one at it
	for i, t := range tokens {
		if t.Span.Start >= c.offset {
			next = i
			break
		}
		if c.offset <= t.Span.End {
			current = i
		}
	}
	if current >= 0 {
		t := tokens[current]
		switch {
		case t.Kind == parse.Name:
			c.written = t.Span
		case t.Kind == parse.Quoted, t.Kind == parse.Bad && t.Span.Text() == "`":
			c.written, c.quoted = t.Span, true
			c.written.Start++
		case t.Kind != parse.Operator && t.Kind != parse.Bracket:
			return false
		}
	}
	c.prefix = c.file.Text[c.written.Start:c.offset]
	c.called = next < len(tokens) && opens(tokens[next]) &&
		tokens[next].Span.Start == c.written.End
	if i := next - 1; c.quoted && i >= 2 && tokens[i-1].Span.Text() == "(" {
		word := tokens[i-2].Span.Text()
		c.alias = word == "alias" || word == "alias_all"
	}
	c.surroundings(tokens, next, current)
	return true
}

// surroundings looks at the clause around the position. A clause ends with a
// full stop or, while it is being written, before a line that begins at the
// margin.
func (c *completer) surroundings(tokens []parse.Token, next, current int) {
	first := next
	for first > 0 && tokens[first-1].Span.Text() != "." {
		first--
	}
	names := map[string]bool{}
	for i := first; i < len(tokens); i++ {
		t := tokens[i]
		text := t.Span.Text()
		atMargin := c.file.LineStart(c.file.LineOf(t.Span.Start)) == t.Span.Start
		if i >= next && (text == "." || atMargin) {
			break
		}
		switch {
		case i >= next:
		case text == "<<":
			c.aggregates = i > 0 && tokens[i-1].Span.Text() == "agg"
			c.numbers = i > 0 && tokens[i-1].Span.Text() == "seq"
		case text == ">>":
			c.aggregates, c.numbers = false, false
		}
		isVariable := t.Kind == parse.Name && i != current && !strings.Contains(text, ":") &&
			!isQuery(text) && text != "true" && text != "false"
		if isVariable && (i+1 == len(tokens) || !opens(tokens[i+1])) {
			names[text] = true
		}
	}
	c.variables = slices.Sorted(maps.Keys(names))
}

// offer adds the names that begin or continue as what is written.
func (c *completer) offer() {
	if c.quoted && c.alias {
		c.blockNames()
	}
	c.predicates()
	if c.quoted {
		return
	}
	for _, name := range c.variables {
		c.add(protocol.CompletionItem{Label: name, SortText: "0" + name,
			Kind: protocol.CompletionItemKindVariable}, name)
	}
	if c.aggregates {
		for _, a := range vocabulary.Aggregations {
			c.add(protocol.CompletionItem{Label: a.Name, SortText: "0" + a.Name,
				Kind:   protocol.CompletionItemKindFunction,
				Detail: a.Form, Documentation: plain(a.Doc)}, a.Name)
		}
		return
	}
	if n, ok := vocabulary.NumberingOf("number"); ok && c.numbers {
		c.add(protocol.CompletionItem{Label: n.Name, SortText: "0" + n.Name,
			Kind:   protocol.CompletionItemKindFunction,
			Detail: n.Form, Documentation: plain(n.Doc)}, n.Name+"(order($1))")
		return
	}
	last := ""
	for _, t := range vocabulary.Types {
		if name := typeWord(t); name != last {
			c.add(protocol.CompletionItem{Label: name, SortText: "2" + name,
				Kind:          protocol.CompletionItemKindTypeParameter,
				Documentation: plain(t.Doc)}, name)
			last = name
		}
	}
	c.add(protocol.CompletionItem{Label: "if", SortText: "4if",
		Kind: protocol.CompletionItemKindKeyword}, "if $1 then $2 else $3")
	for _, word := range []string{"agg", "seq"} {
		c.add(protocol.CompletionItem{Label: word, SortText: "4" + word,
			Kind: protocol.CompletionItemKindKeyword}, word+"<<$1>>")
	}
	// The functions and the directives are many, and the editor asks again.
	if c.prefix == "" {
		c.list.IsIncomplete = true
		return
	}
	for _, name := range scalar.Names() {
		if f := scalar.Lookup(name); f != nil && continues(name, c.prefix) {
			c.add(protocol.CompletionItem{Label: name, SortText: "3" + name,
				Kind:          protocol.CompletionItemKindFunction,
				Detail:        name + "[" + f.Forms[0] + "]",
				Documentation: plain(f.Doc)}, name+"[$1]")
		}
	}
	for _, d := range vocabulary.Directives {
		if continues(d.Name, c.prefix) {
			c.add(protocol.CompletionItem{Label: d.Name, SortText: "5" + d.Name,
				Kind:   protocol.CompletionItemKindKeyword,
				Detail: d.Form, Documentation: plain(d.Doc)}, d.Name)
		}
	}
}

// continues reports whether a name, or a part of it behind a colon, begins with
// what is written.
func continues(name, prefix string) bool {
	name, prefix = strings.ToLower(name), strings.ToLower(prefix)
	return strings.HasPrefix(name, prefix) || strings.Contains(name, ":"+prefix)
}

func plain(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}
}

// predicates adds the predicates of the program, those of clauses that have a
// syntax error now among them.
func (c *completer) predicates() {
	known := maps.Clone(c.preds)
	if c.program.good != nil {
		for name, sym := range c.program.good.preds {
			if known[name] == nil && sym.home(nil).clause != nil {
				known[name] = sym
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		sym := known[name]
		label, ok := c.nameHere(sym)
		if !ok || !matches(label, c.prefix) {
			continue
		}
		item := protocol.CompletionItem{Label: label, SortText: "1" + label,
			Kind: protocol.CompletionItemKindStruct, Detail: sym.detail(c.program)}
		switch sym.symbolKind() {
		case protocol.SymbolKindClass:
			item.Kind = protocol.CompletionItemKindClass
		case protocol.SymbolKindFunction:
			item.Kind = protocol.CompletionItemKindFunction
		}
		if c.preds[name] == sym {
			if text := c.comment(sym.home(nil)); text != "" {
				item.Documentation = plain(text)
			}
		}
		c.add(item, call(label, sym.known(c.program)))
	}
}

// nameHere returns the name of a predicate in the file, and whether it has one:
// as it is written there or in another file, with its block if need be.
func (c *completer) nameHere(sym *symbol) (string, bool) {
	own := sym.ownName()
	var here, elsewhere []string
	for _, x := range sym.places {
		switch text := x.span.Text(); {
		case x.span == c.written: // names nothing yet
		case x.span.File.Name == c.file.Name:
			here = append(here, text)
		case strings.HasSuffix(text, ":"+own):
			elsewhere = append([]string{text}, elsewhere...)
		default:
			elsewhere = append(elsewhere, text)
		}
	}
	switch {
	case isQuery(own):
		return "", false
	case len(here) > 0:
		return here[0], true
	case len(elsewhere) == 0 || strings.HasPrefix(own, "_"):
		return "", false
	}
	return elsewhere[0], true
}

// call returns a predicate with places for its arguments.
func call(name string, p *core.Pred) string {
	if p == nil {
		return name
	}
	var args []string
	for i, a := range p.Args {
		args = append(args, fmt.Sprintf("${%d:%s}", i+1, a.Name))
	}
	if len(args) == p.Keys+1 {
		return name + "[" + strings.Join(args[:p.Keys], ", ") + "]"
	}
	return core.AtomText(name, p.Keys, args)
}

// add offers a name, unless it does not fit what is written. Snippet is what is
// inserted where the editor fills in arguments and none are there.
func (c *completer) add(item protocol.CompletionItem, snippet string) {
	if !matches(item.Label, c.prefix) {
		return
	}
	text := item.Label
	if c.snippets && !c.called && !c.quoted && snippet != text {
		text, item.InsertTextFormat = snippet, protocol.InsertTextFormatSnippet
	}
	item.TextEdit = &protocol.TextEdit{Range: c.at(c.written), NewText: text}
	c.list.Items = append(c.list.Items, item)
}
