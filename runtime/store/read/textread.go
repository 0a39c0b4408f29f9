package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/runtime/store"
)

// textMark is a byte order mark, which is skipped at the start of a text.
const textMark = "\xef\xbb\xbf"

// maxRecord is the longest record of a text file.
const maxRecord = 256 << 20

// opened is a file open for reading, decompressed.
type opened struct {
	io.Reader
	file io.ReadCloser // nil for a reader of the caller's
	zstd *zstd.Decoder
	// window is the memory that was reserved for the decoder.
	window int64
	read   countingReader
	size   int64 // of the file; 0 when not known
	// plain means that the file is not compressed.
	plain bool

	// A load that fails closes the file while a goroutine may still read it.
	// The decoder is closed by the one that finishes last.
	mu              sync.Mutex
	reading, closed bool
}

// Read reads the decompressed file.
func (o *opened) Read(p []byte) (int, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return 0, os.ErrClosed
	}
	o.reading = true
	o.mu.Unlock()
	n, err := o.Reader.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading = false; o.closed {
		o.closeDecoder()
	}
	return n, err
}

func (o *opened) closeDecoder() {
	if o.zstd != nil {
		o.zstd.Close()
	}
}

// countingReader counts the bytes that are read from a file, before
// decompression.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// open opens a file or the source's reader. Gzip and Zstandard are recognised
// by their first bytes. The ledger reserves the window of the decompressor.
func (s *Source) open(ctx context.Context, ledger *store.Ledger) (*opened, error) {
	o := &opened{}
	if s.Reader != nil {
		o.read.r = s.Reader
	} else {
		f, size, err := s.openFile(ctx)
		if err != nil {
			return nil, err
		}
		o.file, o.read.r, o.size = f, f, size
	}
	var magic [signatureBytes]byte
	want := len(magic)
	if s.Reader != nil {
		want = 4 // one that blocks may have no more yet
	}
	n, err := io.ReadFull(&o.read, magic[:want])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		o.Close()
		return nil, err
	}
	raw := io.MultiReader(bytes.NewReader(magic[:n]), &o.read)
	is := func(first string) bool { return bytes.HasPrefix(magic[:n], []byte(first)) }
	switch {
	case is("\x1f\x8b"):
		o.Reader, err = gzip.NewReader(raw)
	case is("\x28\xb5\x2f\xfd"):
		options := []zstd.DOption{zstd.WithDecoderConcurrency(2),
			zstd.WithDecoderMaxMemory(1 << 30)}
		if ledger.Bounded() {
			whole := make([]byte, zstd.HeaderMaxSize)
			more, _ := io.ReadFull(&o.read, whole[copy(whole, magic[:n]):]) // an error comes again
			whole = whole[:n+more]
			raw = io.MultiReader(bytes.NewReader(whole), &o.read)
			if options, o.window, err = s.window(ledger, whole); err != nil {
				break
			}
		}
		o.zstd, err = zstd.NewReader(raw, options...)
		o.Reader = o.zstd
	case is("PAR1") && o.endsWith("PAR1"):
		err = errors.New("this is a Parquet file; name it .parquet")
	default:
		if err = refuse(magic[:n]); err == nil && s.Arity > 1 {
			err = refuseMarkup(magic[:n])
		}
		o.Reader, o.plain = raw, true
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// window reserves the window of a Zstandard file that begins with head, and
// returns options that keep a decoder within it.
func (s *Source) window(
	ledger *store.Ledger, head []byte,
) (options []zstd.DOption, held int64, err error) {
	const least = 8 << 20 // what decoders are advised to support (RFC 8878, 3.1.1.1.2)
	var header zstd.Header
	size := uint64(least)
	if header.Decode(head) == nil {
		size = header.WindowSize
		if header.SingleSegment {
			size = header.FrameContentSize
		}
	}
	held = int64(min(size, 1<<40))
	if err := ledger.Take("the window of "+s.Path, held); err != nil {
		return nil, 0, err
	}
	// Other frames of the file may have windows of other sizes.
	return []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(max(size, least))}, held, nil
}

// endsWith reports whether the file, if it is one, ends so.
func (o *opened) endsWith(tail string) bool {
	f, ok := o.file.(*os.File)
	if !ok || o.size < int64(len(tail)) {
		return false
	}
	end := make([]byte, len(tail))
	_, err := f.ReadAt(end, o.size-int64(len(end)))
	return err == nil && string(end) == tail
}

// Close closes the file; a reader of the caller's stays open.
func (o *opened) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed = true; !o.reading {
		o.closeDecoder()
	}
	if o.file != nil {
		o.file.Close()
	}
}

// textReader cuts a text into blocks of whole records.
type textReader struct {
	r      io.Reader
	format textFormat
	block  int    // bytes to read at a time
	carry  []byte // the start of a record
	offset int64  // of carry in the text
	seq    int
	done   bool
	// take reserves memory for records that are longer than a block.
	take func(bytes int64) error
	// ends returns the end of the last whole record of data, or 0.
	ends func(data []byte) int
}

// newTextReader skips a byte order mark.
func newTextReader(
	r io.Reader, format textFormat, block int, take func(bytes int64) error,
) (*textReader, error) {
	t := &textReader{r: r, format: format, block: block, take: take, ends: format.recordsEnd}
	head := make([]byte, 3)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF && n < len(head) {
		// A truncated compressed file reports the same error; it comes again at
		// the next read.
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if n == 3 && string(head) == textMark {
		t.offset = 3
	} else {
		t.carry = head[:n]
	}
	return t, nil
}

// next reads a block into buf, which may be replaced by a larger one. It
// returns io.EOF after the last. A missing final newline is added.
func (t *textReader) next(buf []byte) (textBlock, error) {
	if t.done && len(t.carry) == 0 {
		return textBlock{data: buf[:0]}, io.EOF
	}
	buf = append(buf[:0], t.carry...)
	for want := t.block; !t.done; want *= 2 {
		if cap(buf)-len(buf) < want+1 {
			if want > t.block {
				if err := t.take(int64(len(buf) + want + want/4)); err != nil {
					return textBlock{data: buf}, err
				}
			}
			buf = append(make([]byte, 0, len(buf)+want+want/4+1), buf...)
		}
		n, err := io.ReadFull(t.r, buf[len(buf):len(buf)+want])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && t.ended():
			t.done = true
		case err != nil:
			return textBlock{data: buf}, err
		}
		if t.done {
			break
		}
		if end := t.ends(buf); end > 0 {
			block := textBlock{seq: t.seq, data: buf[:end], offset: t.offset}
			t.carry = append(t.carry[:0], buf[end:]...)
			t.offset += int64(end)
			t.seq++
			return block, nil
		}
		if len(buf) > maxRecord {
			return textBlock{data: buf}, fmt.Errorf(
				"no end of line within %d MiB; the file may be binary, or a quote may not be closed",
				maxRecord>>20)
		}
	}
	t.carry = nil
	if len(buf) == 0 {
		return textBlock{data: buf}, io.EOF
	}
	if buf[len(buf)-1] != '\n' {
		buf = append(buf, '\n')
	}
	block := textBlock{seq: t.seq, data: buf, offset: t.offset}
	t.seq++
	return block, nil
}

// ended reports whether the text is at its end. io.ReadFull gives the same
// error for a short text as a decompressor gives for a truncated one.
func (t *textReader) ended() bool {
	var probe [1]byte
	n, err := t.r.Read(probe[:])
	return n == 0 && err == io.EOF
}

// A block of text is minBlock bytes at least where memory is bounded, and a
// thread that reads one has blockMemory times its bytes in memory: buffers of
// text, words, chunks.
const (
	minBlock    = 64 << 10
	blockMemory = 8
)

// plan returns the size of the blocks of a text, and how many threads read
// them.
func (o *opened) plan(opts *Options) (block, threads int) {
	block = opts.blockBytes()
	if opts.Bound > 0 {
		fair := opts.Bound / inFlight / blockMemory / int64(opts.threads())
		block = min(block, int(max(minBlock, fair)))
	}
	if o.size > 0 && o.plain {
		block = min(block, int(o.size)+1)
	}
	return block, opts.readers(blockMemory * int64(block))
}

// scanText reads the fields of a text file, with its blocks in parallel, and
// hands them to take in the order of the file.
func (l *load) scanText(
	ctx context.Context, o *opened, format textFormat, take func(textRows) error,
) ([]*textScanner, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	block, threads := o.plan(l.opts)
	what := "reading " + l.source.Path
	var taken atomic.Int64
	taken.Store(blockMemory * int64(block) * int64(threads))
	if err := l.ledger.Take(what, taken.Load()); err != nil {
		return nil, err
	}
	defer func() { l.ledger.Give(taken.Load()) }()
	reader, err := newTextReader(o, format, block, func(n int64) error {
		err := l.ledger.Take("a long line of "+l.source.Path, n)
		if err == nil {
			taken.Add(n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &textPipeline{
		blocks: make(chan textBlock, threads), results: make(chan textRows, threads),
		buffers: make(chan []byte, 3*threads),
	}
	for range cap(p.buffers) {
		p.buffers <- nil
	}
	var blocks blockReader = reader
	if format.json {
		blocks = newJSONReader(reader)
	}
	go p.feed(ctx, blocks, format, l.source.Header)
	scanners := make([]*textScanner, threads)
	var workers sync.WaitGroup
	for w := range scanners {
		scanners[w] = newTextScanner(format, l.fields, l.source.Arity, l.opts.OnError == Skip,
			l.newInterner)
		scanners[w].columns = columnsNamed(l.source)
		scanners[w].openColumns()
		workers.Go(func() { p.scan(ctx, w, scanners[w]) })
	}
	go func() {
		workers.Wait()
		close(p.results)
	}()
	failed := p.inOrder(func(rows textRows) error {
		err := take(rows)
		if err != nil {
			cancel()
		}
		return err
	})
	switch {
	case failed != nil:
		l.adviseHeader(failed, p.head)
		return nil, failed
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	l.report.note = l.headerNote(p.head)
	return scanners, p.failed
}

// blockReader reads blocks of whole records, into buf or a larger buffer, and
// io.EOF after the last.
type blockReader interface {
	next(buf []byte) (textBlock, error)
}

// textPipeline passes blocks of a text from a reader to scanners, and their
// rows on.
type textPipeline struct {
	blocks  chan textBlock
	results chan textRows
	buffers chan []byte // of blocks that have been scanned
	failed  error       // of the reader, once blocks is closed
	head    [][]string  // the first two records, once results is closed
}

// feed reads blocks until the text ends, or reading fails.
func (p *textPipeline) feed(ctx context.Context, r blockReader, format textFormat, header bool) {
	defer close(p.blocks)
	for {
		var buf []byte
		select {
		case buf = <-p.buffers:
		case <-ctx.Done():
			return
		}
		b, err := r.next(buf)
		if err != nil {
			if err != io.EOF {
				p.failed = err
			}
			return
		}
		if header {
			end, inner := format.recordEnd(b.data, 0)
			end = min(end, len(b.data))
			b.data, b.offset, b.header = b.data[end:], b.offset+int64(end), 1+int64(inner)
			header = false
		}
		if b.seq == 0 && !format.json {
			p.head = format.records(b.data, 2)
		}
		select {
		case p.blocks <- b:
		case <-ctx.Done():
			return
		}
	}
}

// scan is the work of one thread.
func (p *textPipeline) scan(ctx context.Context, worker int, s *textScanner) {
	for {
		// A reader that blocks must not keep a cancelled load waiting.
		var b textBlock
		var ok bool
		select {
		case b, ok = <-p.blocks:
		case <-ctx.Done():
		}
		if !ok {
			return
		}
		rows := s.scan(b)
		rows.worker = worker
		select {
		case p.results <- rows:
		case <-ctx.Done():
			return
		}
		p.buffers <- b.data
	}
}

// inOrder calls take with the results in the order of the text, until it
// returns an error.
func (p *textPipeline) inOrder(take func(textRows) error) (failed error) {
	waiting := map[int]textRows{}
	expected := 0
	for rows := range p.results {
		waiting[rows.seq] = rows
		for failed == nil {
			next, ok := waiting[expected]
			if !ok {
				break
			}
			delete(waiting, expected)
			expected++
			failed = take(next)
		}
	}
	return failed
}
