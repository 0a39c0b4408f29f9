package store

import (
	"context"
	"slices"
)

// recodedPages is the Encoded of a column of strings whose codes are translated
// to another dictionary.
type recodedPages struct {
	Encoded          // with codes of the old dictionary
	entries []uint32 // the new entry of each old one
	least   uint32   // the new code of entry 0
	most    uint32
	width   uint8 // of an old entry
}

// recodedPages is WithDict for a column that is not decoded.
func (c *Column) recodedPages(d *Dict, remap []uint32) *Column {
	if remap == nil {
		return &Column{Type: c.Type, Dict: d, Base: c.Base, Step: c.Step, Width: c.Width, n: c.n,
			Stats: c.Stats, Encoded: c.Encoded, decoding: &decoding{}}
	}
	// All codes of the column are at least its base.
	used := remap[c.Stats.Min : c.Stats.Max+1]
	p := &recodedPages{Encoded: c.Encoded, least: slices.Min(used), most: slices.Max(used),
		width: c.Width}
	for _, code := range remap[c.Base : c.Stats.Max+1] {
		p.entries = append(p.entries, code-p.least)
	}
	out := &Column{Type: c.Type, Dict: d, Base: int64(p.least), Step: 1,
		Width: WidthOf(uint64(p.most - p.least)), n: c.n, Stats: c.Stats, Encoded: p,
		decoding: &decoding{}}
	out.Stats.Min, out.Stats.Max = int64(p.least), int64(p.most)
	return out
}

// Values describes the values in the pages.
func (p *recodedPages) Values() EncodedValues {
	v := p.Encoded.Values()
	v.Base, v.Least, v.Span = 0, 0, uint64(p.most-p.least)
	return v
}

// Identity returns a key of the column's contents, given its dictionary, or "".
func (p *recodedPages) Identity() string {
	of, _ := p.Encoded.(interface{ Identity() string })
	if of == nil {
		return ""
	}
	return of.Identity()
}

// Read reads chunk i, and translates its dictionary.
func (p *recodedPages) Read(ctx context.Context, i int, dst []byte, pages *EncodedPages) error {
	err := p.Encoded.Read(ctx, i, dst, pages)
	if err != nil {
		return err
	}
	for k, entry := range pages.Dictionary {
		pages.Dictionary[k] = uint64(p.entries[entry])
	}
	return nil
}

// Decode decodes the old codes, and translates them.
func (p *recodedPages) Decode(ctx context.Context, threads int, dst []byte) error {
	rows := 0
	for _, c := range p.Chunks() {
		rows = max(rows, c.Row+c.Rows)
	}
	of := &Column{Width: p.width, Step: 1, n: rows}
	_ = of.MakeRoom(nil, "") // without a ledger there is no error
	if err := p.Encoded.Decode(ctx, threads, of.Entries()); err != nil {
		return err
	}
	width := len(dst) / rows
	for row := range rows {
		entry := p.entries[of.Word(row)]
		for k := range width {
			dst[row*width+k] = byte(entry >> (8 * k))
		}
	}
	return nil
}
