package read

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/remote"
)

// A request to a server takes as long as reading hundreds of kilobytes more.
// Page indexes and Bloom filters, which writers put between the row groups and
// the footer, are therefore read in one request. Wanted pages are read in one
// request for each run of them.

// requestBytes is the number of bytes that take about as long as another
// request.
const requestBytes = 1 << 20

// mostExtras bounds the bytes of page indexes and Bloom filters that are read
// in one request.
const mostExtras = 4 << 20

// extras reads the page indexes and the Bloom filters of a Parquet file on a
// server.
type extras struct {
	file *remote.File
	from int64 // where the part that is read at once begins; the end of the file if it is empty
	size int64
	once sync.Once
	data []byte
}

// newExtras returns the extras of a file, or nil if the file is not on a
// server.
func newExtras(f *parquetFile) *extras {
	server, ok := f.ReaderAt.(*remote.File)
	if !ok {
		return nil
	}
	from := int64(math.MaxInt64)
	for g := range f.Groups {
		for c := range f.Groups[g].Chunks {
			chunk := &f.Groups[g].Chunks[c]
			for _, at := range []*int64{chunk.Locations, chunk.Bounds, chunk.Meta.Bloom} {
				if at != nil && *at > 0 {
					from = min(from, *at)
				}
			}
		}
	}
	if from > f.size || f.size-from > mostExtras {
		from = f.size
	}
	return &extras{file: server, from: from, size: f.size}
}

// ReadAt reads at an offset.
func (e *extras) ReadAt(p []byte, at int64) (int, error) {
	if at < e.from || at > e.size-int64(len(p)) {
		return e.file.ReadAt(p, at)
	}
	e.once.Do(func() {
		data := make([]byte, e.size-e.from)
		if readAll(e.file, data, e.from) == nil {
			e.data = data
		}
	})
	if e.data == nil {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, e.data[at-e.from:]), nil
}

// beside returns a reader of page indexes and Bloom filters.
func (f *parquetFile) beside() io.ReaderAt {
	if f.extras != nil {
		return f.extras
	}
	return f
}

// with returns the file with another context for its reads.
func (f *parquetFile) with(ctx context.Context) *parquetFile {
	server, ok := f.ReaderAt.(*remote.File)
	if !ok {
		return f
	}
	out := &parquetFile{Footer: f.Footer, ReaderAt: server.With(ctx), size: f.size}
	out.extras = newExtras(out)
	return out
}

// chunk returns a reader of the pages of a column chunk, and a function that
// ends it. If the page index has the positions of the pages, only wanted ones
// are requested.
func (f *parquetFile) chunk(group, column int, x *parquet.PageIndex,
	wanted func(from, until int64) bool) (io.ReaderAt, func(), error) {
	server, ok := f.ReaderAt.(*remote.File)
	if !ok {
		return f, func() {}, nil
	}
	from, until := f.Span(f.size, group, column)
	if from < 0 || from > until {
		return nil, nil, fmt.Errorf("the Parquet file is damaged: column %s is at byte %d",
			f.Columns[column].Name, from)
	}
	if x == nil || !server.HasRanges() {
		span := server.Range(from, until)
		return span, span.Close, nil
	}
	spans := server.Ranges(x.Runs(from, wanted, requestBytes))
	return spans, spans.Close, nil
}
