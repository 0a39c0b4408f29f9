package blocks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
)

// BlockMention is a block where its clause names it, or where an alias does.
type BlockMention struct {
	Span    source.Span // of the predicate literal
	Name    string      // the full name
	Defines bool        // it is the clause of the block
	Alias   string      // what the alias calls the block, or ""
}

// Blocks lists the places that name blocks, by file and place.
func (n Names) Blocks() []BlockMention {
	var out []BlockMention
	for _, b := range n.blocks {
		if b.named {
			out = append(out, BlockMention{Span: b.at, Name: b.name(), Defines: true})
		}
		for _, ref := range b.all {
			if ref.block != nil {
				out = append(out, BlockMention{Span: ref.at, Name: ref.block.name()})
			}
		}
		for alias, ref := range b.alias {
			if ref.block != nil && ref.pred == "" {
				out = append(out, BlockMention{Span: ref.at, Name: ref.block.name(), Alias: alias})
			}
		}
	}
	slices.SortFunc(out, func(a, b BlockMention) int {
		return cmp.Or(strings.Compare(a.Span.File.Name, b.Span.File.Name),
			cmp.Compare(a.Span.Start, b.Span.Start))
	})
	return out
}
