package write

import (
	"bufio"
	"errors"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// ToArrow returns the rows, in order, as one record. The caller releases it.
// The strings of a column must not take more than 2 GiB together, which is what
// an array can hold.
func ToArrow(out *Output) (arrow.RecordBatch, error) {
	a, err := out.arrange()
	if err != nil {
		return nil, err
	}
	defer a.Free()
	return recordOf(out, a, 0, a.N)
}

// EachArrow calls yield with the rows, in order, as records of a few thousand
// rows each, which are released when it returns.
func EachArrow(out *Output, yield func(arrow.RecordBatch) error) error {
	return eachArrow(out, store.BlockRows, yield)
}

// eachArrow is EachArrow with records of at most the given number of rows.
func eachArrow(out *Output, rows int, yield func(arrow.RecordBatch) error) error {
	a, err := out.arrange()
	if err != nil {
		return err
	}
	defer a.Free()
	for from := 0; from < a.N; from += rows {
		rec, err := recordOf(out, a, from, min(from+rows, a.N))
		if err != nil {
			return err
		}
		err = yield(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// fileRecord is how many rows a record of a file has: enough for readers to
// work by columns, few enough to be in memory many times.
const fileRecord = 1 << 16

// writeArrow writes rows as an Arrow file, or as a stream.
func writeArrow(w io.Writer, out *Output, stream bool) error {
	buffered := bufio.NewWriterSize(w, flushBytes)
	schema := ipc.WithSchema(ArrowSchema(out))
	to, err := recordWriter(buffered, schema, stream)
	if err != nil {
		return err
	}
	if err := eachArrow(out, fileRecord, to.Write); err != nil {
		return err // of a file that is not whole
	}
	if err := to.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// recordWriter writes records.
func recordWriter(w io.Writer, schema ipc.Option, stream bool) (interface {
	Write(arrow.RecordBatch) error
	Close() error
}, error) {
	if stream {
		return ipc.NewWriter(w, schema), nil
	}
	return ipc.NewFileWriter(w, schema)
}

const (
	// arrowPart is how many rows a goroutine converts at a time, a multiple of
	// the 8 whose truth values share a byte.
	arrowPart = 1 << 13
	// arrowAlone is how many values are converted sooner than goroutines for
	// them wake up.
	arrowAlone = 1 << 14
)

// recordOf makes a record of rows from..until-1 of an order.
func recordOf(out *Output, a *store.Arrangement, from, until int) (arrow.RecordBatch, error) {
	n := until - from
	fields := out.fields()
	arrays := make([]*arrayWriter, len(fields))
	for i, f := range fields {
		arrays[i] = newArrayWriter(f.Column, n, func(dst []int64, at int) {
			a.Read(f.at, dst, from+at)
		})
		if f.wide() {
			arrays[i].low = func(dst []int64, at int) { a.Read(f.at+1, dst, from+at) }
		}
	}
	threads := parallel.Threads(out.Threads)
	if n*len(arrays) <= arrowAlone {
		threads = 1
	}
	parts := (n + arrowPart - 1) / arrowPart
	each := func(do func(w *arrayWriter, part int)) {
		parallel.Do(threads, parts*len(arrays), func(i int) {
			do(arrays[i%len(arrays)], i/len(arrays))
		})
	}
	each((*arrayWriter).values)
	text := false
	for _, w := range arrays {
		if err := w.beginText(); err != nil {
			return nil, err
		}
		text = text || w.text != nil
	}
	if text {
		each((*arrayWriter).strings)
	}
	all := list.Map(arrays, (*arrayWriter).array)
	rec := array.NewRecordBatch(ArrowSchema(out), all, int64(n))
	for _, arr := range all {
		arr.Release() // the record holds it
	}
	return rec, nil
}

// arrayWriter fills the buffers of one array, in parts of arrowPart rows.
type arrayWriter struct {
	col  *store.Column
	typ  arrow.DataType
	bits int // of a value; none of strings
	n    int
	read func(dst []int64, from int)
	low  func(dst []int64, from int) // reads the lower words of wide decimals
	// data holds the values. For strings, it holds first their codes, and then
	// where each begins in text.
	data *memory.Buffer
	text *memory.Buffer // the bytes of strings
	// ends holds first the bytes of the strings of each part, and then where
	// these begin.
	ends []int
}

func newArrayWriter(c *store.Column, n int, read func(dst []int64, from int)) *arrayWriter {
	w := &arrayWriter{col: c, typ: arrowType(c.Type), n: n, read: read,
		data: memory.NewResizableBuffer(memory.DefaultAllocator)}
	if t, ok := w.typ.(arrow.FixedWidthDataType); ok {
		w.bits = t.BitWidth()
		w.data.Resize(int(bitutil.BytesForBits(int64(n * w.bits))))
	} else {
		w.data.Resize((n + 1) * arrow.Int32SizeBytes)
		w.ends = make([]int, (n+arrowPart-1)/arrowPart)
	}
	return w
}

// values writes the values of a part; of strings, their codes.
func (w *arrayWriter) values(part int) {
	from, until := part*arrowPart, min((part+1)*arrowPart, w.n)
	t, data := w.col.Type, w.data.Bytes()
	if w.bits == 64 {
		w.read(arrow.GetData[int64](data)[from:until], from) // words are the values
		return
	}
	words := make([]int64, min(store.BlockRows, until-from))
	for ; from < until; from += store.BlockRows {
		words := words[:min(store.BlockRows, until-from)]
		w.read(words, from)
		switch {
		case t.Kind == scalar.Boolean:
			for i, word := range words {
				bitutil.SetBitTo(data, from+i, word != 0)
			}
		case t.Kind == scalar.Float:
			to := arrow.GetData[float32](data)[from:]
			for i, word := range words {
				to[i] = float32(math.Float64frombits(uint64(word)))
			}
		case w.low != nil:
			to := arrow.GetData[decimal128.Num](data)[from:]
			low := make([]int64, len(words))
			w.low(low, from)
			for i, word := range words {
				n := scalar.JoinWords(t.Scale, word, low[i]).Int128()
				to[i] = decimal128.New(n.Hi, n.Lo)
			}
		case t.Kind == scalar.Decimal:
			to := arrow.GetData[decimal128.Num](data)[from:]
			for i, word := range words {
				to[i] = decimal128.FromI64(word)
			}
		case t.Kind == scalar.String:
			to := arrow.GetData[uint32](data)[from:][:len(words)]
			truncate(to, words)
			w.ends[part] += w.col.Dict.TextBytes(to)
		case t.Bits == 8:
			truncate(arrow.GetData[uint8](data)[from:], words)
		case t.Bits == 16:
			truncate(arrow.GetData[uint16](data)[from:], words)
		case t.Bits == 32:
			truncate(arrow.GetData[uint32](data)[from:], words)
		}
	}
}

func truncate[T uint8 | uint16 | uint32](dst []T, words []int64) {
	dst = dst[:len(words)]
	for i, w := range words {
		dst[i] = T(w)
	}
}

// errLongText is strings that one array cannot hold.
var errLongText = errors.New(
	"the strings of a column take more than 2 GiB, which one Arrow array cannot hold")

// beginText makes room for the bytes of strings, whose codes are there.
func (w *arrayWriter) beginText() error {
	if w.col.Type.Kind != scalar.String {
		return nil
	}
	total := 0
	for i, bytes := range w.ends {
		w.ends[i] = total
		total += bytes
	}
	if total > math.MaxInt32 {
		return errLongText
	}
	arrow.GetData[int32](w.data.Bytes())[w.n] = int32(total)
	w.text = memory.NewResizableBuffer(memory.DefaultAllocator)
	w.text.Resize(total)
	return nil
}

// strings writes the strings of a part, and where each begins in place of its
// code.
func (w *arrayWriter) strings(part int) {
	if w.text == nil {
		return
	}
	codes := arrow.GetData[uint32](w.data.Bytes())[part*arrowPart : min((part+1)*arrowPart, w.n)]
	end := w.text.Len()
	if part+1 < len(w.ends) {
		end = w.ends[part+1] // what follows is another goroutine's
	}
	w.col.Dict.AppendTexts(codes, w.text.Bytes()[:end], w.ends[part])
}

// array returns what was written. The buffers are the array's.
func (w *arrayWriter) array() arrow.Array {
	buffers := []*memory.Buffer{nil, w.data}
	if w.text != nil {
		buffers = append(buffers, w.text)
	}
	data := array.NewData(w.typ, w.n, buffers, nil, 0, 0)
	defer data.Release()
	for _, b := range buffers[1:] {
		b.Release() // data holds it
	}
	return array.MakeFromData(data)
}

// ArrowSchema returns the types that ToArrow gives: integers of their size,
// decimal128(19, scale) or, of wide decimals, decimal128(38, scale), timestamps
// in microseconds UTC, UTF-8 strings.
func ArrowSchema(out *Output) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range out.fields() {
		fields = append(fields, arrow.Field{Name: f.name, Type: arrowType(f.Type)})
	}
	return arrow.NewSchema(fields, nil)
}

// decimalDigits is the precision of decimals on the way out: all of 64 bits
// fit.
const decimalDigits = 19

func arrowType(t scalar.Type) arrow.DataType {
	switch t.Kind {
	case scalar.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case scalar.Int:
		return map[uint8]arrow.DataType{8: arrow.PrimitiveTypes.Int8,
			16: arrow.PrimitiveTypes.Int16,
			32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64}[t.Bits]
	case scalar.Uint:
		return map[uint8]arrow.DataType{8: arrow.PrimitiveTypes.Uint8,
			16: arrow.PrimitiveTypes.Uint16,
			32: arrow.PrimitiveTypes.Uint32, 64: arrow.PrimitiveTypes.Uint64}[t.Bits]
	case scalar.Float:
		if t.Bits == 32 {
			return arrow.PrimitiveTypes.Float32
		}
		return arrow.PrimitiveTypes.Float64
	case scalar.Decimal:
		if t.Word == scalar.High {
			return &arrow.Decimal128Type{Precision: scalar.MaxWideScale, Scale: int32(t.Scale)}
		}
		return &arrow.Decimal128Type{Precision: decimalDigits, Scale: int32(t.Scale)}
	case scalar.Datetime:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	}
	return arrow.BinaryTypes.String
}
