package ssbgen

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/parquet"
)

// Options say which data is made.
type Options struct {
	// Scale is the scale factor: 1 stands for about 6,000,000 rows of
	// lineorder.
	Scale float64
	// Seed tells data of one scale factor apart.
	Seed uint64
	// Threads is how many row groups are made at once; 0 stands for one a
	// processor. A row group takes about 100 MB while it is made.
	Threads int
}

// MaxScale is the largest scale factor, with 60 billion rows.
const MaxScale = 10_000

func (o Options) orders() int64    { return o.scaled(1_500_000) }
func (o Options) customers() int64 { return o.scaled(30_000) }
func (o Options) suppliers() int64 { return o.scaled(2_000) }

func (o Options) parts() int64 {
	if o.Scale < 1 {
		return o.scaled(200_000)
	}
	return 200_000 * (1 + int64(math.Log2(o.Scale)))
}

func (o Options) scaled(rows float64) int64 { return max(1, int64(math.Round(rows*o.Scale))) }

// table is what a file is made from.
type table struct {
	name string
	// units are what a table is made of: orders, or rows of a dimension.
	units int64
	group int64 // units of a row group
	make  func(from, to int64) []column
}

// groupUnits are the units of a row group: 2^19 rows of lineorder.
const groupUnits = 1 << 17

func (o Options) tables() []table {
	return []table{
		{"lineorder", o.orders(), groupUnits, o.lineorder},
		{"customer", o.customers(), groupUnits, o.customer},
		{"supplier", o.suppliers(), groupUnits, o.supplier},
		{"part", o.parts(), groupUnits, o.part},
		{"date", int64(days), groupUnits, date},
	}
}

// Generate writes lineorder, customer, supplier, part and date as TABLE.parquet
// to a folder, which it creates if necessary. A file appears under its name
// when it is complete.
func Generate(ctx context.Context, folder string, o Options) error {
	if !(o.Scale > 0 && o.Scale <= MaxScale) {
		return fmt.Errorf("the scale factor %v is not between 0 and %d", o.Scale, MaxScale)
	}
	if o.Threads <= 0 {
		o.Threads = goruntime.GOMAXPROCS(0)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, t := range o.tables() {
		if err := t.write(ctx, filepath.Join(folder, t.name+".parquet"), o.Threads); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// write makes the table's file.
func (t table) write(ctx context.Context, path string, threads int) error {
	return atomicfile.Write(path, func(f io.Writer) error {
		w := parquet.NewWriter(f, "redfox", columnsOf(t.make(0, 0)))
		err := t.rowGroups(ctx, threads, func(g *rowGroup) error {
			return w.Append(g.Group, g.rows)
		})
		if err != nil {
			return err
		}
		return w.Close()
	})
}

// rowGroups makes the table's row groups in several goroutines and calls f with
// one after the other, in their order. No more than one a goroutine waits for
// its turn.
func (t table) rowGroups(ctx context.Context, threads int, f func(*rowGroup) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type result struct {
		group *rowGroup
		err   error
	}
	turns := make(chan chan result, threads-1) // in the order of row groups
	go func() {
		defer close(turns)
		for from := int64(0); from < t.units; from += t.group {
			turn := make(chan result, 1)
			select {
			case turns <- turn:
			case <-ctx.Done():
				return
			}
			go func() {
				g, err := encode(t.make(from, min(t.units, from+t.group)))
				turn <- result{g, err}
			}()
		}
	}()
	for turn := range turns {
		r := <-turn
		if r.err != nil {
			return r.err
		}
		if err := f(r.group); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
