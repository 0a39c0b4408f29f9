package blocks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
)

// BlockMention is a place that names a block: its clause, or an alias.
type BlockMention struct {
	Span    source.Span // of the predicate literal
	Name    string      // the full name
	Defines bool        // the place is the clause of the block
	Alias   string      // the alias that the place defines, or ""
}

// Blocks lists the places that name blocks, ordered by file and position.
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
