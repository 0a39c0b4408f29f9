package read

import "github.com/redfoxdb/redfox/internal/parquet"

// keptPages is the unpacked pages of a column chunk that was tested and is
// decoded next: to unpack them takes longer than all else.
type keptPages struct {
	pages  parquet.Kept
	group  int   // of which the pages are; -1 if they are of none
	unread int64 // bytes of pages that were passed over
	// dictionary is that of the chunk, converted, unless it has strings. spare
	// is the memory of one.
	dictionary *pageDictionary
	spare      []int64
}

// mostKept is how many bytes of unpacked pages a chunk has at most that is
// kept.
const mostKept = 16 << 20

// keepPages makes room for the pages of fields that are tested and then
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

// keptOf returns the room for the pages of a field's chunk on a thread, or nil.
func (p *parquetLoad) keptOf(t, i, g int) *keptPages {
	if p.pages == nil || p.file.Groups[g].Chunks[p.fields[i].index].Meta.Bytes > mostKept {
		return nil
	}
	return p.pages[t][i]
}

// begin forgets the pages that are there.
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

// has reports whether the pages are those of a row group.
func (k *keptPages) has(group int) bool { return k != nil && k.group == group }
