package read

import "github.com/redfoxdb/redfox/internal/parquet"

// keptPages is the unpacked pages of a column chunk that was tested and is
// decoded next. They are kept because unpacking takes longer than everything
// else.
type keptPages struct {
	pages  parquet.Kept
	group  int   // the row group of the pages; -1 if there are none
	unread int64 // bytes of pages that were skipped
	// dictionary is the converted dictionary of the chunk, unless it has
	// strings. spare is memory for the next one.
	dictionary *pageDictionary
	spare      []int64
}

// mostKept bounds the bytes of unpacked pages that are kept for a chunk.
const mostKept = 16 << 20

// keepPages allocates keptPages for the fields that are tested and then
// decoded.
func (p *parquetLoad) keepPages() {
	if p.pages != nil {
		return
	}
	for range p.rooms {
		fields := make([]*keptPages, len(p.fields))
		for i, t := range p.tests {
			if t != nil && !t.Alone {
				fields[i] = &keptPages{group: -1}
			}
		}
		p.pages = append(p.pages, fields)
	}
}

// keptOf returns the keptPages of a field's chunk on a thread, or nil.
func (p *parquetLoad) keptOf(t, i, g int) *keptPages {
	if p.pages == nil || p.file.Groups[g].Chunks[p.fields[i].index].Meta.Bytes > mostKept {
		return nil
	}
	return p.pages[t][i]
}

// begin drops the pages that are kept.
func (k *keptPages) begin() *parquet.Kept {
	k.pages.Clear()
	k.group = -1
	if k.dictionary != nil {
		k.dictionary, k.spare = nil, k.dictionary.words
	}
	return &k.pages
}

// takeDictionary keeps a dictionary, and returns memory for the next one.
func (k *keptPages) takeDictionary(d *pageDictionary) (spare []int64) {
	spare, k.dictionary, k.spare = k.spare, d, nil
	return spare
}

// has reports whether the pages of a row group are kept.
func (k *keptPages) has(group int) bool { return k != nil && k.group == group }
