package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/tries"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// trieSide is an input of multijoins: a trie that is built when it is first
// needed, and again only when what it was built from has changed. Multijoins
// with equal inputs share one.
type trieSide[K tries.Word] struct {
	memo
	tries.Shape
	pipes []*pipeline
	cols  []string // of the levels and then of the payload
	sink  *packSink
	trie  tries.Trie[K]
}

// ensure builds the trie if need be and returns its number of rows.
func (s *trieSide[K]) ensure(r *work.Run) int {
	s.refresh(func() {
		s.trie.Free(r.Mem)
		if s.sink == nil {
			s.sink = newPackSink(r, s.Name, packing{s.cols, &s.Layout},
				packing{lay: &interval.Layout{}})
			setSink(s.pipes, s.sink)
		}
		exec(r, s.pipes)
		words, rows := s.sink.take(r)
		s.trie = *tries.Build[K](r, &s.Shape, words, rows)
	})
	return s.trie.Rows
}
