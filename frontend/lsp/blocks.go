package lsp

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/blocks"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// enterBlocks indexes the names of blocks in block clauses, and notes the
// places where they stand before the names of predicates.
func (s *snapshot) enterBlocks(mentions []blocks.BlockMention) {
	s.blocks = map[string]*symbol{}
	s.aliases = map[string]map[string]*symbol{}
	for _, m := range mentions {
		f := s.files[m.Span.File.Name]
		if f == nil || f.index == nil {
			continue
		}
		sym := s.blocks[m.Name]
		if sym == nil {
			sym = &symbol{kind: blockName, name: m.Name}
			s.blocks[m.Name] = sym
		}
		r := used
		if m.Defines {
			r = declared
		}
		p := place{span: unquoted(m.Span), role: r}
		sym.places = append(sym.places, p)
		f.index.entries = append(f.index.entries, entry{p, sym})
		if m.Alias != "" {
			if s.aliases[f.Name] == nil {
				s.aliases[f.Name] = map[string]*symbol{}
			}
			s.aliases[f.Name][m.Alias] = sym
		}
	}
	if len(s.blocks) == 0 {
		return
	}
	for _, f := range s.order {
		if f.index == nil {
			continue
		}
		slices.SortFunc(f.index.entries, func(x, y entry) int {
			return x.span.Start - y.span.Start
		})
		for i := range f.index.entries {
			if e := s.qualifier(f, &f.index.entries[i]); e != nil {
				e.symbol.places = append(e.symbol.places, e.place)
			}
		}
	}
}

// qualifier returns the block before the name of a predicate, as an entry of
// its own, or nil. An alias stands for the block.
func (s *snapshot) qualifier(f *file, e *entry) *entry {
	text := e.span.Text()
	end := strings.LastIndexByte(text, ':')
	if e.kind != predicate || end < 0 {
		return nil
	}
	for ; end > 0; end = strings.LastIndexByte(text[:end], ':') {
		prefix := strings.TrimPrefix(text[:end], "$")
		sym := s.aliases[f.Name][prefix]
		if sym == nil {
			sym = s.blockNamed(prefix)
		}
		if sym != nil {
			at := e.span
			at.End = at.Start + end
			at.Start = at.End - len(prefix)
			return &entry{place{span: at, clause: e.place.clause}, sym}
		}
	}
	return nil
}

// blockNamed returns the block whose full name, or the end of it, is a name;
// nil if there are none or several.
func (s *snapshot) blockNamed(name string) *symbol {
	if sym := s.blocks[name]; sym != nil {
		return sym
	}
	var found *symbol
	for full, sym := range s.blocks {
		if strings.HasSuffix(full, ":"+name) {
			if found != nil {
				return nil
			}
			found = sym
		}
	}
	return found
}

// blockNames offers the blocks of the program, by the shortest names that tell
// them apart.
func (c *completer) blockNames() {
	for full, sym := range c.blocks {
		name := full
		for _, rest, ok := strings.Cut(name, ":"); ok && c.blockNamed(rest) == sym; {
			name = rest
			_, rest, ok = strings.Cut(name, ":")
		}
		c.add(protocol.CompletionItem{Label: name, SortText: "1" + name, Detail: "block",
			Kind: protocol.CompletionItemKindModule}, name)
	}
	slices.SortFunc(c.list.Items, func(a, b protocol.CompletionItem) int {
		return strings.Compare(a.Label, b.Label)
	})
}
