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

// ToArrow returns the rows, in order, as one record, which the caller releases.
// The strings of a column must not exceed 2 GiB in total, the limit of an
// array.
func ToArrow(out *Output) (arrow.RecordBatch, error) {
	a, err := out.arrange()
	if err != nil {
		return nil, err
	}
	defer a.Free()
	return recordOf(out, a, 0, a.N)
}

// EachArrow calls yield with the rows, in order, as records of a few thousand
// rows each. It releases each record when yield returns.
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

// fileRecord is the number of rows in a record of a file: enough for readers to
// work by columns, few enough to hold many records in memory.
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
		return err // the file is incomplete
	}
	if err := to.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// recordWriter returns the writer of records for a file or a stream.
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
	// arrowPart is the number of rows that a goroutine converts at a time. It
	// is a multiple of 8, because the truth values of 8 rows share a byte.
	arrowPart = 1 << 13
	// arrowAlone bounds the values that one goroutine converts faster than
	// others would start.
	arrowAlone = 1 << 14
)

// recordOf returns a record of rows from..until-1 of an arrangement.
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
	bits int // of a value; 0 for strings
	n    int
	read func(dst []int64, from int)
	low  func(dst []int64, from int) // reads the lower words of wide decimals
	// data holds the values. For strings, it first holds their codes, and later
	// where each begins in text.
	data *memory.Buffer
	text *memory.Buffer // the bytes of strings
	// ends first holds the size of the strings of each part, and later where
	// the strings of each part begin.
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

// values writes the values of a part. For strings, it writes their codes.
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

// errLongText means that the strings exceed what one array can hold.
var errLongText = errors.New(
	"the strings of a column take more than 2 GiB, which one Arrow array cannot hold")

// beginText allocates the text of strings whose codes are in data.
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

// strings writes the strings of a part, and replaces each code by where its
// string begins.
func (w *arrayWriter) strings(part int) {
	if w.text == nil {
		return
	}
	codes := arrow.GetData[uint32](w.data.Bytes())[part*arrowPart : min((part+1)*arrowPart, w.n)]
	end := w.text.Len()
	if part+1 < len(w.ends) {
		end = w.ends[part+1] // the next part belongs to another goroutine
	}
	w.col.Dict.AppendTexts(codes, w.text.Bytes()[:end], w.ends[part])
}

// array returns the array, which takes over the buffers.
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

// ArrowSchema returns the schema of the records of ToArrow. Integers keep their
// size; decimals are decimal128(19, scale), and wide ones decimal128(38,
// scale); datetimes are timestamps in microseconds UTC; strings are UTF-8.
func ArrowSchema(out *Output) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range out.fields() {
		fields = append(fields, arrow.Field{Name: f.name, Type: arrowType(f.Type)})
	}
	return arrow.NewSchema(fields, nil)
}

// decimalDigits is the precision of written decimals: all numbers of 64 bits
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
