package tables

import (
	"cmp"
	"context"
	"errors"
	goruntime "runtime"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/store"
)

// A column that is still pages of its file (store.Encoded) is copied as it is
// there, a batch of column chunks at a time, and kernels decode it. While they
// decode one batch, the next one is read and copied.

// A batch has one chunk at least. A warp takes milliseconds for a page that is
// compressed well, so that thousands of pages are to be there at the same time.
const (
	batchBytes    = 1 << 30 // as they are in the file, at most
	batchUnpacked = 2 << 30
	// batchShare is the part of the free memory that a batch takes at most.
	batchShare = 16
	// batchesAtOnce is how many batches are on the device at the same time.
	batchesAtOnce = 2
)

// errNotDecoded says that the host is to decode a column.
var errNotDecoded = errors.New("the device cannot decode the column")

// decoding is the work of decoding one column on the device.
type decoding struct {
	*Residency
	encoded store.Encoded
	chunks  []store.EncodedChunk
	column  service.PageColumn
	kernels map[string]driver.Function
	status  device.Buffer
	batches [batchesAtOnce]pageBatch
	sent    int64 // bytes
}

// pageBatch is room for some column chunks on the device.
type pageBatch struct {
	chunks   device.Buffer // as they are in the file
	unpacked device.Buffer // pages
	list     device.Buffer // of pages
	// dictionaries has the entries of the dictionaries of all chunks.
	dictionaries device.Buffer
	copied       driver.Event
	decoded      driver.Event // completes when the memory may be used again
	used         bool
}

// sendEncoded has the device decode a column, whose memory it has. It returns
// the number of bytes copied, or errNotDecoded if the host is to decode the
// column, which finds out what is wrong.
func (y *Residency) sendEncoded(ctx context.Context, x *resident, c *store.Column) (
	sent int64, err error) {
	if y.Decoding == nil {
		return 0, errNotDecoded
	}
	kernels, err := y.Decoding()
	if err != nil {
		return 0, errNotDecoded
	}
	v := c.Encoded.Values()
	d := &decoding{Residency: y, encoded: c.Encoded, chunks: c.Encoded.Chunks(), kernels: kernels,
		column: service.PageColumn{Column: x.data.Word(), Width: int64(c.Width),
			Bytes: int64(v.Bytes), Base: v.Base, Least: v.Least, Span: v.Span}}
	switch {
	case v.Single:
		d.column.Kind = service.PageSingles
	case v.Float:
		d.column.Kind = service.PageFloats
	}
	defer func() { err = errors.Join(err, d.close(err)) }()
	if err := d.run(ctx); err != nil {
		return 0, err
	}
	return d.sent, nil
}

// run decodes the column, and waits for the device.
func (d *decoding) run(ctx context.Context) (err error) {
	if d.status, err = d.room(8); err != nil {
		return err
	}
	if err := d.copies.Fill32(d.status.At, 0, 2); err != nil {
		return err
	}
	n := 0
	for from := 0; from < len(d.chunks); n++ {
		until := d.batchFrom(from)
		if err := d.batch(ctx, &d.batches[n%batchesAtOnce], from, until); err != nil {
			return err
		}
		from = until
	}
	for i := range d.batches {
		if b := &d.batches[i]; b.used {
			if err := d.copies.Wait(b.decoded); err != nil {
				return err
			}
		}
	}
	var status [1]int64
	if err := d.copies.CopyToHost(device.BytesOf(status[:]), d.status.At); err != nil {
		return err
	}
	if err := d.copies.Synchronize(ctx); err != nil {
		return err
	}
	if status[0] != 0 {
		return errNotDecoded
	}
	return nil
}

// batchFrom returns where the batch ends that begins with a chunk.
func (d *decoding) batchFrom(from int) (until int) {
	share := int(d.mem.Unheld() / batchShare)
	bytes, unpacked := 0, 0
	for until = from; until < len(d.chunks); until++ {
		c := &d.chunks[until]
		bytes += c.Bytes
		unpacked += c.Unpacked
		if until > from && (bytes > batchBytes || unpacked > batchUnpacked ||
			bytes+unpacked > share) {
			break
		}
	}
	return until
}

// batch copies chunks and has the device decode them.
func (d *decoding) batch(ctx context.Context, b *pageBatch, from, until int) error {
	if err := d.begin(b); err != nil {
		return err
	}
	places := []int64{0} // of the chunks, in their memory
	for i := from; i < until; i++ {
		places = append(places, places[len(places)-1]+int64(d.chunks[i].Bytes))
	}
	bytes := places[len(places)-1]
	if err := d.grow(&b.chunks, bytes); err != nil {
		return err
	}
	pages, err := d.read(ctx, b, from, until, places)
	if err != nil {
		return err
	}
	d.sent += bytes
	return d.launch(b, pages, places)
}

// begin makes room for a batch usable, after the one before.
func (d *decoding) begin(b *pageBatch) (err error) {
	if b.used {
		return d.copies.Wait(b.decoded)
	}
	if b.copied, err = d.mem.GPU.NewEvent(); err != nil {
		return err
	}
	b.decoded, err = d.mem.GPU.NewEvent()
	b.used = err == nil
	return err
}

// read reads and copies chunks, and returns their pages. Small chunks pass
// together through a buffer of the staging. There are fewer buffers than a host
// has cores, and reading may decompress pages, so that chunks of a buffer are
// read at the same time as well.
func (d *decoding) read(ctx context.Context, b *pageBatch, from, until int, places []int64) (
	[]store.EncodedPages, error) {
	pages := make([]store.EncodedPages, until-from)
	var groups []int // the first chunk of each, counted from that of the batch
	for i := range pages {
		if len(groups) == 0 || places[i+1]-places[groups[len(groups)-1]] > device.StageBytes {
			groups = append(groups, i)
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cores := goruntime.GOMAXPROCS(0)
	buffers := max(min(device.StageBuffers, cores, len(groups)), 1)
	parallel.Do(buffers, len(groups), func(g int) {
		first, end := groups[g], len(pages)
		if g+1 < len(groups) {
			end = groups[g+1]
		}
		if ctx.Err() != nil {
			return
		}
		at := places[first]
		err := d.stage.Through(ctx, d.copies, b.chunks.At+cuda.Pointer(at), int(places[end]-at),
			func(dst []byte) error {
				errs := make([]error, end-first)
				parallel.Do((cores+buffers-1)/buffers, end-first, func(k int) {
					i := first + k
					part := dst[places[i]-at : places[i+1]-at]
					errs[k] = d.encoded.Read(ctx, from+i, part, &pages[i])
				})
				return cmp.Or(errs...)
			})
		if err != nil {
			stop(err)
		}
	})
	return pages, context.Cause(ctx)
}

// launch has the device decode the pages of chunks that are being copied:
// those of dictionaries first, into a column of their own.
func (d *decoding) launch(b *pageBatch, chunks []store.EncodedPages, places []int64) error {
	l := d.list(b, chunks, places)
	if len(l.pages) == 0 {
		return d.copies.Record(b.decoded)
	}
	if err := errors.Join(d.grow(&b.unpacked, l.unpacked),
		d.grow(&b.dictionaries, l.entries*d.column.Width),
		d.grow(&b.list, int64(8*service.PageWords*len(l.pages)))); err != nil {
		return err
	}
	words := make([]uint64, 0, service.PageWords*len(l.pages))
	to := b.unpacked.Word()
	for i := range l.pages {
		p := &l.pages[i]
		if p.To = p.From; p.Packed {
			p.To = to
			to += service.PageRoom(p.Unpacked)
		}
		if p.Coded {
			p.Dictionary = b.dictionaries.Word() + p.Dictionary*d.column.Width
		}
		words = p.AppendTo(words)
	}
	// Go's memory is staged.
	if err := errors.Join(d.copies.CopyToDevice(b.list.At, device.BytesOf(words)),
		d.copyEntries(b, l), d.copies.Record(b.copied), d.decodes.Wait(b.copied)); err != nil {
		return err
	}
	if l.unpacked > 0 {
		if err := d.start(service.UnpackPages(b.list.Word(), int64(len(l.pages)),
			d.status.Word())); err != nil {
			return err
		}
	}
	dictionaries := d.column
	dictionaries.Column = b.dictionaries.Word()
	if err := errors.Join(d.decode(b, l.pages, 0, l.ofDictionaries, dictionaries),
		d.decode(b, l.pages, l.ofDictionaries, len(l.pages), d.column)); err != nil {
		return err
	}
	return d.decodes.Record(b.decoded)
}

// decode decodes pages of a list, from one on and up to another one.
func (d *decoding) decode(b *pageBatch, pages []service.Page, from, until int,
	to service.PageColumn) error {
	if from == until {
		return nil
	}
	most, deltas := int64(0), 0
	for _, p := range pages[from:until] {
		if p.Delta {
			deltas++
		} else {
			most = max(most, p.Rows)
		}
	}
	at, n, status := b.list.Word()+int64(8*service.PageWords*from), until-from, d.status.Word()
	if deltas > 0 {
		if err := d.start(service.DecodeDeltas(at, int64(n), to, status)); err != nil {
			return err
		}
	}
	if deltas == n {
		return nil
	}
	return d.start(service.DecodePages(at, int64(n), most, to, status))
}

// pageList is the pages of a batch, those of dictionaries first.
type pageList struct {
	pages          []service.Page
	ofDictionaries int
	unpacked       int64 // bytes of room
	entries        int64 // of all dictionaries
	made           []madeEntries
}

// madeEntries are the entries of a dictionary that the host has made, and where
// they are among all.
type madeEntries struct {
	at      int64
	entries []uint64
}

// dictionaryPlaces is what the place of a dictionary's first entry is a
// multiple of, as each has to be aligned to 8 bytes.
const dictionaryPlaces = 8

// list lists the pages of chunks. Dictionary is the place of a page's first
// entry among those of all dictionaries.
func (d *decoding) list(b *pageBatch, chunks []store.EncodedPages, places []int64) *pageList {
	l := &pageList{}
	add := func(p *store.EncodedPage, at int64) *service.Page {
		l.pages = append(l.pages, service.Page{From: b.chunks.Word() + at + int64(p.From),
			Bytes: int64(p.Until - p.From), Unpacked: int64(p.Unpacked), Row: int64(p.Row),
			Rows: int64(p.Rows), Packed: p.Packed, Levels: p.Levels, Coded: p.Coded,
			Delta: p.Delta, Split: p.Split})
		if p.Packed {
			l.unpacked += service.PageRoom(int64(p.Unpacked))
		}
		return &l.pages[len(l.pages)-1]
	}
	firsts, counts := make([]int64, len(chunks)), make([]int64, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		firsts[i] = l.entries
		if counts[i] = int64(len(c.Dictionary)); counts[i] > 0 {
			l.made = append(l.made, madeEntries{l.entries, c.Dictionary})
		} else if counts[i] = int64(c.DictionaryPage.Rows); counts[i] > 0 {
			add(&c.DictionaryPage, places[i]).Row = l.entries
		}
		l.entries += (counts[i] + dictionaryPlaces - 1) / dictionaryPlaces * dictionaryPlaces
	}
	l.ofDictionaries = len(l.pages)
	for i := range chunks {
		for k := range chunks[i].Pages {
			if p := add(&chunks[i].Pages[k], places[i]); p.Coded {
				p.Dictionary, p.Entries = firsts[i], counts[i]
			}
		}
	}
	return l
}

// copyEntries copies the entries of dictionaries that the host has made.
func (d *decoding) copyEntries(b *pageBatch, l *pageList) error {
	if len(l.made) == 0 {
		return nil
	}
	bytes := make([]byte, 0, l.entries*d.column.Width)
	for _, m := range l.made {
		bytes = append(bytes, make([]byte, m.at*d.column.Width-int64(len(bytes)))...)
		bytes = service.AppendPageEntries(bytes, d.column.Width, m.entries)
	}
	return d.copies.CopyToDevice(b.dictionaries.At, bytes)
}

// start launches a kernel.
func (d *decoding) start(l service.Launch) error {
	f := d.kernels[l.Kernel]
	if f == nil {
		return errNotDecoded
	}
	return device.Launch(d.decodes, f, l)
}

// grow gives a buffer of a batch, which is not in use, at least some bytes.
func (d *decoding) grow(b *device.Buffer, bytes int64) (err error) {
	if bytes == 0 || b.Bytes >= bytes {
		return nil
	}
	old := *b
	*b = device.Buffer{}
	if err := d.mem.Free(d.copies, old); err != nil {
		return err
	}
	*b, err = d.room(bytes)
	return err
}

// room returns memory that nobody has.
func (d *decoding) room(bytes int64) (device.Buffer, error) {
	b, err := d.mem.AllocSpare(d.copies, bytes)
	if errors.Is(err, device.ErrNoRoom) {
		err = errNotDecoded
	}
	return b, err
}

// close gives back what the work has taken. After an error it waits for what is
// under way.
func (d *decoding) close(failed error) error {
	var errs []error
	if failed != nil {
		errs = append(errs, d.copies.Synchronize(context.Background()),
			d.decodes.Synchronize(context.Background()))
	}
	for i := range d.batches {
		b := &d.batches[i]
		for _, e := range []driver.Event{b.copied, b.decoded} {
			if e != nil {
				errs = append(errs, e.Close())
			}
		}
		for _, x := range []device.Buffer{b.chunks, b.unpacked, b.list, b.dictionaries} {
			errs = append(errs, d.mem.Free(d.copies, x))
		}
	}
	errs = append(errs, d.mem.Free(d.copies, d.status))
	return errors.Join(errs...)
}
