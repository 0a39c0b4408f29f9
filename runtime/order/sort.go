package order

import "context"

// Sort returns all rows in the order of the keys, ties broken by the columns
// that they leave out, ascending, from first to last. The selection is the
// caller's to free. It takes 16 bytes a row while it runs, and 4 for the
// result.
func (s *Sorter) Sort(ctx context.Context, x *Rows, keys []Key) (*Selection, error) {
	p, err := s.pack(ctx, x, keys)
	if err != nil {
		return nil, err
	}
	words, err := s.alloc(x.Name, x.N)
	if err != nil {
		return nil, err
	}
	defer s.free(words)
	err = s.blocks(ctx, x.N, func(from, to int) {
		scratch := make([]int64, blockRows)
		for at := from; at < to; at += blockRows {
			p.read(&p.levels[0], words[at:min(at+blockRows, to)], scratch, at)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, x, p, words, len(words))
}

// finish sorts words of the first level and returns the rows of the first ones.
func (s *Sorter) finish(
	ctx context.Context, x *Rows, p *packing, words []uint64, limit int,
) (*Selection, error) {
	if err := s.sortPacked(ctx, x.Name, p, words); err != nil {
		return nil, err
	}
	sel, err := s.selection(x.Name, min(limit, len(words)))
	if err != nil {
		return nil, err
	}
	mask := p.rowMask()
	for i := range sel.Rows {
		sel.Rows[i] = uint32(words[i] & mask)
	}
	return sel, nil
}

// sortPacked sorts words of the first level by all levels. Afterwards only
// their rows mean something.
func (s *Sorter) sortPacked(ctx context.Context, what string, p *packing, words []uint64) error {
	spare, err := s.alloc(what, len(words))
	if err != nil {
		return err
	}
	defer s.free(spare)
	if err := s.sortWords(ctx, words, spare, p.rowBits, p.rowBits+p.levels[0].bits); err != nil {
		return err
	}
	return s.refine(ctx, p, words, spare, 1)
}

// refine sorts each run of words that agree on the level before by the given
// one and those after it.
func (s *Sorter) refine(ctx context.Context, p *packing, words, spare []uint64, next int) error {
	if next == len(p.levels) {
		return nil
	}
	// Tasks are shares of whole runs. A run that is too long for one is left to
	// all threads.
	starts := []int{0}
	for at := parallelSort / 2; at < len(words); at += parallelSort / 2 {
		if at = p.endOfRun(words, at); at < len(words) {
			starts = append(starts, at)
		}
	}
	starts = append(starts, len(words))
	long := make([]int, len(starts)-1) // 1 + where the share's only long run starts
	err := s.Tasks(ctx, len(long), func(i int) {
		var b block
		from, to := starts[i], starts[i+1]
		if to-from >= parallelSort/2 && s.threads() > 1 {
			// A share ends with the run that reaches its step, so only its last
			// run can be long.
			for last := from; last < to; {
				end := p.endOfRun(words[:to], last) // others write behind the share
				if end == to && end-last >= parallelSort/2 {
					long[i], to = last+1, last
					break
				}
				last = end
			}
		}
		p.refine(ctx, words[from:to], spare[from:to], next, &b)
	})
	if err != nil {
		return err
	}
	l := &p.levels[next]
	for i, from := range long {
		if from == 0 {
			continue
		}
		run, spare := words[from-1:starts[i+1]], spare[from-1:starts[i+1]]
		err := s.blocks(ctx, len(run), func(from, to int) {
			var b block
			p.gather(l, run[from:to], &b)
		})
		if err != nil {
			return err
		}
		if err := s.sortWords(ctx, run, spare, p.rowBits, p.rowBits+l.bits); err != nil {
			return err
		}
		if err := s.refine(ctx, p, run, spare, next+1); err != nil {
			return err
		}
	}
	return nil
}

// refine is Sorter.refine on the calling goroutine.
func (p *packing) refine(ctx context.Context, words, spare []uint64, next int, b *block) {
	if next == len(p.levels) {
		return
	}
	l := &p.levels[next]
	for from := 0; from < len(words); {
		to := p.endOfRun(words, from)
		if run := words[from:to]; len(run) > 1 {
			p.gather(l, run, b)
			// An error is the context's, which the caller sees too.
			_ = Radix(ctx, run, spare[from:to], p.rowBits, p.rowBits+l.bits)
			p.refine(ctx, run, spare[from:to], next+1, b)
		}
		from = to
	}
}

// endOfRun returns the place after the words that agree with the one at from on
// their level.
func (p *packing) endOfRun(words []uint64, from int) int {
	key := words[from] >> p.rowBits
	to := from + 1
	for to < len(words) && words[to]>>p.rowBits == key {
		to++
	}
	return to
}
