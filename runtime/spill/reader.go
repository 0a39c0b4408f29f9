package spill

import (
	"encoding/binary"
	"slices"
)

// reader reads columns of blocks into vectors.
type reader struct {
	r    *run
	data []byte
	vecs [][]int64
}

// block reads some columns of a block into vectors.
func (d *reader) block(b *block, cols []int) ([][]int64, error) {
	if err := d.r.stopped(); err != nil {
		return nil, err
	}
	for len(d.vecs) < len(cols) {
		d.vecs = append(d.vecs, nil)
	}
	// A single read covers all columns and those between them.
	from, until := b.bytes, 0
	for _, c := range cols {
		at := b.offset(c)
		from, until = min(from, at), max(until, at+b.rows*int(b.cols[c].width))
	}
	if n := until - from; n > 0 {
		d.data = slices.Grow(d.data[:0], n)[:n]
		if err := d.r.file.read(d.data, b.at+int64(from)); err != nil {
			return nil, err
		}
	}
	for i, c := range cols {
		d.vecs[i] = slices.Grow(d.vecs[i][:0], b.rows)[:b.rows]
		f := b.cols[c]
		var data []byte
		if f.width > 0 {
			data = d.data[b.offset(c)-from:]
		}
		widen(d.vecs[i], data, f)
	}
	return d.vecs[:len(cols)], nil
}

// offset returns the place of a column in a block.
func (b *block) offset(col int) int {
	at := 0
	for _, f := range b.cols[:col] {
		at += b.rows * int(f.width)
	}
	return at
}

// widen is the reverse of pack.
func widen(dst []int64, data []byte, f field) {
	switch f.width {
	case 0:
		for i := range dst {
			dst[i] = f.lo
		}
	case 1:
		for i := range dst {
			dst[i] = f.lo + int64(data[i])
		}
	case 2:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint16(data[2*i:]))
		}
	case 4:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case 8:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
}

// factRows is the number of rows of stored columns that are widened at a time.
const factRows = 1 << 12

// each calls f with some columns of the rows, block by block: first stored rows
// that belong to the part, then blocks.
func (r *run) each(g *bag, blocks []block, cols []int, f func(cols [][]int64, n int) error) error {
	codes, err := r.codesOf(g, cols)
	if err != nil {
		return err
	}
	return r.stretch(g, blocks, cols, codes, 0, 1, f)
}

// stretch is each for the k-th of n stretches of the rows, which are about
// equal. It is safe for concurrent use.
func (r *run) stretch(g *bag, blocks []block, cols []int, codes [][]uint32, k, n int,
	f func(cols [][]int64, n int) error) error {
	if g.facts != nil && blocks == nil {
		from, until := stretchOf(int(g.rows), k, n)
		return r.stored(g, cols, codes, from, until, f)
	}
	d := reader{r: r}
	for i := len(blocks) * k / n; i < len(blocks)*(k+1)/n; i++ {
		vecs, err := d.block(&blocks[i], cols)
		if err != nil {
			return err
		}
		if err := f(vecs, blocks[i].rows); err != nil {
			return err
		}
	}
	return nil
}

// abreast returns how many threads read columns of blocks at the same time, a
// block each. What they read takes a part of the memory, like the buffers of
// writers.
func (r *run) abreast(blocks []block, cols int) int {
	if len(blocks) < 2 {
		return 1
	}
	rows := rowsOf(blocks) / int64(len(blocks))
	if rows < leastStretch/8 {
		return 1 // a thread would have too little to do
	}
	room := r.bound / writing / (8 * rows * int64(max(cols, 1)))
	return max(1, min(r.threads(), len(blocks), int(min(room, 1<<16))))
}

// stretchOf returns the bounds of the k-th of n stretches of stored rows.
func stretchOf(rows, k, n int) (from, until int) {
	whole := (rows + factRows - 1) / factRows
	return min(whole*k/n*factRows, rows), min(whole*(k+1)/n*factRows, rows)
}

// stored is each for stored rows. Strings get the run's codes.
func (r *run) stored(g *bag, cols []int, codes [][]uint32, from, until int,
	f func(cols [][]int64, n int) error) error {
	vecs := make([][]int64, len(cols))
	for i := range vecs {
		vecs[i] = make([]int64, factRows)
	}
	for ; from < until; from += factRows {
		n := min(factRows, until-from)
		for i, c := range cols {
			vecs[i] = vecs[i][:n]
			if g.facts[c].Absent {
				continue
			}
			g.facts[c].Read(vecs[i], from)
			if codes[i] != nil {
				for k, w := range vecs[i] {
					vecs[i][k] = int64(codes[i][w])
				}
			}
		}
		if err := r.stopped(); err != nil {
			return err
		}
		if err := f(vecs, n); err != nil {
			return err
		}
	}
	return nil
}

// codesOf returns the run's codes for the strings of stored columns; nil for a
// column whose words are the same to the run.
func (r *run) codesOf(g *bag, cols []int) ([][]uint32, error) {
	codes := make([][]uint32, len(cols))
	if g.facts == nil {
		return codes, nil
	}
	for i, c := range cols {
		col := g.facts[c]
		if col.Absent || col.Dict == nil {
			continue
		}
		var err error
		if codes[i], err = r.codes(col.Dict); err != nil {
			return nil, err
		}
	}
	return codes, nil
}
