package read

import (
	"context"
	"fmt"

	"github.com/redfoxdb/redfox/runtime/store"
)

// batch holds some rows of all fields of a file that is read in pieces of rows.
type batch struct {
	rows  int
	parts []columnPart // of each field
}

// reserve reserves the memory of the batch.
func (l *load) reserve(b *batch) error {
	for i := range b.parts {
		if err := l.keep(i, &b.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeBatches joins the batches into columns. interners has an interner for
// each field of strings.
func (l *load) takeBatches(
	ctx context.Context, batches []batch, interners []*store.Interner,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, t := range interners {
		if t != nil && t.Err() != nil {
			return t.Err()
		}
	}
	starts := []int64{0}
	parts := make([][]columnPart, len(l.fields))
	for _, b := range batches {
		if b.rows == 0 {
			continue
		}
		starts = append(starts, starts[len(starts)-1]+int64(b.rows))
		for i := range parts {
			parts[i] = append(parts[i], b.parts[i])
		}
	}
	l.rows = starts[len(starts)-1]
	if l.rows > maxRows {
		return fmt.Errorf("%d rows; a relation cannot hold more than %d", l.rows, int64(maxRows))
	}
	l.report.Rows, l.report.Bytes = l.rows, l.bytes
	for i := range parts {
		l.gather(i, parts[i], starts)
	}
	err := l.assemble(ctx, func(i int) []*store.Interner {
		interners[i].DropTable()
		return interners[i : i+1]
	})
	if err != nil {
		return err
	}
	return l.badRows(parts, starts)
}
