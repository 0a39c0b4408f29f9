package store

import (
	"context"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/parallel"
)

// pairsAscend reports whether the entries of two columns of at most four bytes,
// concatenated to one number, strictly ascend from row to row. Then no two rows
// are equal. Most files of facts are sorted by a key of two columns like this.
func pairsAscend(ctx context.Context, with Sorting, a, b *Column) bool {
	if a.Width == 0 || a.Width > 4 || b.Width == 0 || b.Width > 4 {
		return false
	}
	a.onHost()
	b.onHost()
	var fails atomic.Bool
	parallel.Do(parallel.Threads(with.Threads), (a.n+orderRows-1)/orderRows, func(i int) {
		if fails.Load() || ctx.Err() != nil {
			return
		}
		from, to := max(0, i*orderRows-1), min((i+1)*orderRows, a.n)
		ok := false
		switch a.Width {
		case 1:
			ok = pairsWith(a.U8[from:to], b, from)
		case 2:
			ok = pairsWith(a.U16[from:to], b, from)
		default:
			ok = pairsWith(a.U32[from:to], b, from)
		}
		if !ok {
			fails.Store(true)
		}
	})
	return !fails.Load() && ctx.Err() == nil
}

// pairsWith is pairsAscend for some entries of the first column, and for those
// of the second from a row on.
func pairsWith[A uint8 | uint16 | uint32](a []A, b *Column, from int) bool {
	switch b.Width {
	case 1:
		return pairs(a, b.U8[from:][:len(a)])
	case 2:
		return pairs(a, b.U16[from:][:len(a)])
	}
	return pairs(a, b.U32[from:][:len(a)])
}

func pairs[A, B uint8 | uint16 | uint32](a []A, b []B) bool {
	last, descents := uint64(a[0])<<32|uint64(b[0]), 0
	for i := 1; i < len(a) && i < len(b); i++ {
		pair := uint64(a[i])<<32 | uint64(b[i])
		if pair <= last {
			descents++
		}
		last = pair
	}
	return descents == 0
}
