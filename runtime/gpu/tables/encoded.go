package tables

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"

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

// Bounds of the chunks of a batch, which has one chunk at least. Some thousands
// of pages keep a device busy.
const (
	batchBytes    = 128 << 20 // as they are in the file
	batchUnpacked = 256 << 20
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
	list     device.Buffer // of pages, and the dictionaries
	copied   driver.Event
	decoded  driver.Event // completes when the memory may be used again
	used     bool
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
	bytes, unpacked := 0, 0
	for until = from; until < len(d.chunks); until++ {
		c := &d.chunks[until]
		bytes += c.Bytes
		unpacked += c.Unpacked
		if until > from && (bytes > batchBytes || unpacked > batchUnpacked) {
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

// read reads and copies chunks, and returns their pages.
func (d *decoding) read(ctx context.Context, b *pageBatch, from, until int, places []int64) (
	[]store.EncodedPages, error) {
	pages := make([]store.EncodedPages, until-from)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var failed sync.Once
	var failure error
	threads := min(device.StageBuffers, max(goruntime.GOMAXPROCS(0), 1))
	parallel.Do(threads, until-from, func(i int) {
		if ctx.Err() != nil {
			return
		}
		err := d.stage.Through(ctx, d.copies, b.chunks.At+cuda.Pointer(places[i]),
			d.chunks[from+i].Bytes, func(dst []byte) error {
				return d.encoded.Read(ctx, from+i, dst, &pages[i])
			})
		if err != nil {
			failed.Do(func() { failure = err })
			stop(err)
		}
	})
	if failure == nil {
		failure = context.Cause(ctx)
	}
	return pages, failure
}

// launch has the device decode the pages of chunks that are being copied.
func (d *decoding) launch(b *pageBatch, chunks []store.EncodedPages, places []int64) error {
	count, most, unpacked := 0, 0, int64(0)
	for i := range chunks {
		count += len(chunks[i].Pages)
		for _, p := range chunks[i].Pages {
			most = max(most, p.Rows)
			if p.Packed {
				unpacked += service.PageRoom(int64(p.Unpacked))
			}
		}
	}
	if count == 0 {
		return d.copies.Record(b.decoded)
	}
	dictionaries, starts := d.dictionaries(chunks)
	pages := int64(8 * service.PageWords * count)
	if err := errors.Join(d.grow(&b.unpacked, unpacked),
		d.grow(&b.list, pages+int64(len(dictionaries)))); err != nil {
		return err
	}
	list := make([]uint64, 0, service.PageWords*count)
	to := b.unpacked.Word()
	for i := range chunks {
		for _, p := range chunks[i].Pages {
			from := b.chunks.Word() + places[i] + int64(p.From)
			page := service.Page{From: from, Bytes: int64(p.Until - p.From), To: from,
				Unpacked: int64(p.Unpacked), Row: int64(p.Row), Rows: int64(p.Rows),
				Dictionary: b.list.Word() + pages + starts[i],
				Entries:    int64(len(chunks[i].Dictionary)),
				Packed:     p.Packed, Levels: p.Levels, Coded: p.Coded}
			if p.Packed {
				page.To = to
				to += service.PageRoom(page.Unpacked)
			}
			list = page.AppendTo(list)
		}
	}
	// Go's memory is staged.
	if err := errors.Join(d.copies.CopyToDevice(b.list.At, device.BytesOf(list)),
		d.copies.CopyToDevice(b.list.At+cuda.Pointer(pages), dictionaries),
		d.copies.Record(b.copied), d.decodes.Wait(b.copied)); err != nil {
		return err
	}
	if unpacked > 0 {
		if err := d.start(service.UnpackPages(b.list.Word(), int64(count),
			d.status.Word())); err != nil {
			return err
		}
	}
	if err := d.start(service.DecodePages(b.list.Word(), int64(count), int64(most), d.column,
		d.status.Word())); err != nil {
		return err
	}
	return d.decodes.Record(b.decoded)
}

// dictionaries returns the dictionaries of chunks as the device reads them, and
// where each begins.
func (d *decoding) dictionaries(chunks []store.EncodedPages) (bytes []byte, starts []int64) {
	for i := range chunks {
		for len(bytes)%8 > 0 {
			bytes = append(bytes, 0)
		}
		starts = append(starts, int64(len(bytes)))
		bytes = service.AppendPageEntries(bytes, d.column.Width, chunks[i].Dictionary)
	}
	return bytes, starts
}

// start launches a kernel.
func (d *decoding) start(l service.Launch) error {
	f := d.kernels[l.Kernel]
	if f == nil {
		return errNotDecoded
	}
	shape := cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads},
		Shared: l.Shared}
	return d.decodes.Launch(f, shape, l.Params)
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
		for _, x := range []device.Buffer{b.chunks, b.unpacked, b.list} {
			errs = append(errs, d.mem.Free(d.copies, x))
		}
	}
	errs = append(errs, d.mem.Free(d.copies, d.status))
	return errors.Join(errs...)
}
