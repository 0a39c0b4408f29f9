package order

import (
	"context"
	"math"
)

// candidates is the least number of words that are worth sorting to drop some.
const candidates = 1 << 14

// TopK returns the first limit rows in the order of the keys, ties broken by
// the columns that they leave out, ascending; within the rows of equal group
// columns if there are any. The rows of a group are neighbours and in order.
// The selection is the caller's to free.
//
// Without a group it takes memory for a few times limit rows on each thread and
// looks at each row once; otherwise it sorts.
func (s *Sorter) TopK(
	ctx context.Context, x *Rows, group []int, by []Key, limit int64,
) (*Selection, error) {
	if limit <= 0 || x.N == 0 {
		return &Selection{}, nil
	}
	if len(group) == 0 {
		if limit < int64(x.N/8) && x.N > candidates {
			return s.first(ctx, x, by, int(limit))
		}
		sel, err := s.Sort(ctx, x, by)
		if err == nil {
			sel.Rows = sel.Rows[:min(limit, int64(len(sel.Rows)))]
		}
		return sel, err
	}
	sel, err := s.Sort(ctx, x, groupKeys(group, by))
	if err != nil {
		return nil, err
	}
	kept := 0
	x.groups(sel.Rows, group, func(from, to int) bool {
		kept += copy(sel.Rows[kept:], sel.Rows[from:from+int(min(limit, int64(to-from)))])
		return true
	})
	sel.Rows = sel.Rows[:kept]
	return sel, nil
}

// First returns the first limit rows in the order of all columns, as TopK does.
func (s *Sorter) First(ctx context.Context, x *Rows, limit int64) (*Selection, error) {
	return s.TopK(ctx, x, nil, nil, limit)
}

func groupKeys(group []int, by []Key) []Key {
	keys := make([]Key, 0, len(group)+len(by))
	for _, c := range group {
		keys = append(keys, Key{Col: c})
	}
	return append(keys, by...)
}

// first is TopK without a group for a limit well below the number of rows. Each
// thread keeps candidates until it has several times as many as are wanted,
// then sorts them and drops the rest; rows behind all that it has are not kept
// at all.
func (s *Sorter) first(ctx context.Context, x *Rows, by []Key, limit int) (*Selection, error) {
	p, err := s.pack(ctx, x, by)
	if err != nil {
		return nil, err
	}
	room := max(candidates, 4*limit)
	threads := max(1, min(s.threads(), x.N/room))
	words, err := s.alloc(x.Name, threads*room)
	if err != nil {
		return nil, err
	}
	defer s.free(words)
	spare, err := s.alloc(x.Name, threads*room)
	if err != nil {
		return nil, err
	}
	defer s.free(spare)
	share := (x.N + threads - 1) / threads
	kept := make([]int, threads)
	many := Sorter{Threads: threads}
	err = many.Tasks(ctx, threads, func(t int) {
		b := &best{p: p, limit: limit, words: words[t*room:][:0:room], spare: spare[t*room:][:room],
			bound: math.MaxUint64}
		b.take(ctx, min(t*share, x.N), min((t+1)*share, x.N))
		kept[t] = len(b.words)
	})
	if err != nil {
		return nil, err
	}
	all := words[:0]
	for t, n := range kept {
		all = append(all, words[t*room:][:n]...)
	}
	return s.finish(ctx, x, p, all, limit)
}

// best is the first rows that one thread has seen.
type best struct {
	p     *packing
	limit int
	words []uint64 // of the first level, up to the capacity
	spare []uint64
	// bound is the greatest key on the first level that can be among the first.
	bound uint64
	block block
}

// take looks at a range of rows.
func (b *best) take(ctx context.Context, from, to int) {
	words := make([]uint64, blockRows)
	for at := from; at < to; at += blockRows {
		part := words[:min(blockRows, to-at)]
		b.p.read(&b.p.levels[0], part, b.block.words[:], at)
		if cap(b.words)-len(b.words) < len(part) {
			if ctx.Err() != nil {
				return
			}
			b.drop(ctx)
		}
		for _, w := range part {
			if w>>b.p.rowBits <= b.bound {
				b.words = append(b.words, w)
			}
		}
	}
	b.drop(ctx)
}

// drop sorts what is there and keeps the first limit words.
func (b *best) drop(ctx context.Context) {
	p := b.p
	l := &p.levels[0]
	_ = Radix(ctx, b.words, b.spare, p.rowBits, p.rowBits+l.bits)
	if len(b.words) <= b.limit {
		return
	}
	// Only the run that the limit cuts needs to be in order.
	b.bound = b.words[b.limit-1] >> p.rowBits
	from := b.limit - 1
	for from > 0 && b.words[from-1]>>p.rowBits == b.bound {
		from--
	}
	if to := p.endOfRun(b.words, from); to > b.limit {
		p.refine(ctx, b.words[from:to], b.spare[from:to], 1, &b.block)
		p.gather(l, b.words[from:b.limit], &b.block)
	}
	b.words = b.words[:b.limit]
}
