package parquet

import "fmt"

// The structs of this file are those of parquet.thrift in the Parquet format's
// repository, with the fields that are read or written here.

// Type is how values are stored.
type Type int32

// The types.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var typeNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE",
	"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// String returns the type's name in the format's specification.
func (t Type) String() string { return nameOf(typeNames[:], int32(t)) }

// size returns the bytes of a PLAIN value, or 0 if values differ.
func (t Type) size() int { return [...]int{0, 4, 8, 12, 4, 8, 0, 0}[t] }

// Encoding is how the values of a page are encoded.
type Encoding int32

// The encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2 // as RLEDictionary
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

var encodingNames = [...]string{"PLAIN", "1", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED",
	"DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY",
	"BYTE_STREAM_SPLIT"}

// String returns the encoding's name in the format's specification.
func (e Encoding) String() string { return nameOf(encodingNames[:], int32(e)) }

// Codec is how the bytes of pages are compressed.
type Codec int32

// The codecs.
const (
	Uncompressed Codec = 0
	Snappy       Codec = 1
	Gzip         Codec = 2
	Brotli       Codec = 4
	Zstd         Codec = 6
	LZ4Raw       Codec = 7
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD",
	"LZ4_RAW"}

// String returns the codec's name in the format's specification.
func (c Codec) String() string { return nameOf(codecNames[:], int32(c)) }

func nameOf(names []string, i int32) string {
	if i < 0 || int(i) >= len(names) {
		return fmt.Sprint("number ", i)
	}
	return names[i]
}

// repetition says how often a field occurs in the one that it is part of.
type repetition int32

const (
	required repetition = iota
	optional
	repeated
)

// fileMetadata is the footer.
type fileMetadata struct {
	Version   int32           `thrift:"1"`
	Schema    []schemaElement `thrift:"2"`
	Rows      int64           `thrift:"3"`
	Groups    []RowGroup      `thrift:"4"`
	CreatedBy *string         `thrift:"6"`
	Orders    []columnOrder   `thrift:"7"`
	Encrypted *struct{}       `thrift:"8"`
}

// columnOrder says that bounds are ordered as the type's values are.
type columnOrder struct {
	ByType *struct{} `thrift:"1"`
}

// schemaElement is a column, or a group of the elements that follow it.
type schemaElement struct {
	Type       *Type       `thrift:"1"`
	Length     *int32      `thrift:"2"`
	Repetition *repetition `thrift:"3"`
	Name       string      `thrift:"4"`
	Children   *int32      `thrift:"5"`
	Converted  *int32      `thrift:"6"`
	Scale      *int32      `thrift:"7"`
	Precision  *int32      `thrift:"8"`
	Logical    *Logical    `thrift:"10"`
}

// Logical is what the values of a column mean: the field that is not nil.
type Logical struct {
	Text      *struct{}  `thrift:"1"`
	Map       *struct{}  `thrift:"2"`
	List      *struct{}  `thrift:"3"`
	Enum      *struct{}  `thrift:"4"`
	Decimal   *Decimal   `thrift:"5"`
	Date      *struct{}  `thrift:"6"`
	Time      *Timestamp `thrift:"7"`
	Timestamp *Timestamp `thrift:"8"`
	Integer   *Integer   `thrift:"10"`
	Unknown   *struct{}  `thrift:"11"`
	JSON      *struct{}  `thrift:"12"`
	BSON      *struct{}  `thrift:"13"`
	UUID      *struct{}  `thrift:"14"`
	Float16   *struct{}  `thrift:"15"`
	Variant   *struct{}  `thrift:"16"`
	Geometry  *struct{}  `thrift:"17"`
	Geography *struct{}  `thrift:"18"`

	interval bool // which only converted types have
}

// Decimal is a number with Scale of its digits after the point.
type Decimal struct {
	Scale     int32 `thrift:"1"`
	Precision int32 `thrift:"2"`
}

// Timestamp is a number of units since 1970, or since midnight.
type Timestamp struct {
	UTC  bool     `thrift:"1"`
	Unit TimeUnit `thrift:"2"`
}

// TimeUnit is the field that is not nil.
type TimeUnit struct {
	Millis *struct{} `thrift:"1"`
	Micros *struct{} `thrift:"2"`
	Nanos  *struct{} `thrift:"3"`
}

// Integer is an integer of 8 to 64 bits.
type Integer struct {
	Bits   int8 `thrift:"1"`
	Signed bool `thrift:"2"`
}

// fits reports whether values of a type can have the meaning.
func (l *Logical) fits(t Type) bool {
	switch {
	case l.Text != nil, l.Enum != nil, l.JSON != nil, l.BSON != nil:
		return t == ByteArray
	case l.Decimal != nil:
		d := l.Decimal
		return (t == Int32 || t == Int64 || t == ByteArray || t == FixedLenByteArray) &&
			d.Scale >= 0 && d.Scale <= d.Precision
	case l.Date != nil:
		return t == Int32
	case l.Timestamp != nil:
		return t == Int64
	case l.Integer != nil:
		switch l.Integer.Bits {
		case 8, 16, 32:
			return t == Int32
		}
		return t == Int64 && l.Integer.Bits == 64
	}
	return true
}

// String describes the meaning in messages.
func (l *Logical) String() string {
	switch {
	case l.Decimal != nil:
		return fmt.Sprintf("Decimal(precision=%d, scale=%d)", l.Decimal.Precision, l.Decimal.Scale)
	case l.Time != nil:
		return "Time" + l.Time.text()
	case l.Timestamp != nil:
		return "Timestamp" + l.Timestamp.text()
	case l.Integer != nil:
		return fmt.Sprintf("Int(bitWidth=%d, isSigned=%t)", l.Integer.Bits, l.Integer.Signed)
	case l.interval:
		return "Interval"
	}
	for name, field := range map[string]*struct{}{
		"String": l.Text, "Map": l.Map, "List": l.List, "Enum": l.Enum, "Date": l.Date,
		"JSON": l.JSON, "BSON": l.BSON, "UUID": l.UUID, "Float16": l.Float16,
		"Variant": l.Variant, "Geometry": l.Geometry, "Geography": l.Geography,
	} {
		if field != nil {
			return name
		}
	}
	return "Unknown"
}

func (t *Timestamp) text() string {
	unit := "microseconds"
	switch {
	case t.Unit.Millis != nil:
		unit = "milliseconds"
	case t.Unit.Nanos != nil:
		unit = "nanoseconds"
	}
	return fmt.Sprintf("(isAdjustedToUTC=%t, timeUnit=%s)", t.UTC, unit)
}

// meaning returns the logical type, or the logical type that the older
// converted type stands for, or nil.
func (e *schemaElement) meaning() *Logical {
	if e.Logical != nil || e.Converted == nil {
		return e.Logical
	}
	is := &struct{}{}
	millis, micros := TimeUnit{Millis: is}, TimeUnit{Micros: is}
	switch c := *e.Converted; c {
	case 0:
		return &Logical{Text: is}
	case 1, 2:
		return &Logical{Map: is}
	case 3:
		return &Logical{List: is}
	case 4:
		return &Logical{Enum: is}
	case 5:
		d := &Decimal{}
		if e.Scale != nil {
			d.Scale = *e.Scale
		}
		if e.Precision != nil {
			d.Precision = *e.Precision
		}
		return &Logical{Decimal: d}
	case 6:
		return &Logical{Date: is}
	case 7:
		return &Logical{Time: &Timestamp{UTC: true, Unit: millis}}
	case 8:
		return &Logical{Time: &Timestamp{UTC: true, Unit: micros}}
	case 9:
		return &Logical{Timestamp: &Timestamp{UTC: true, Unit: millis}}
	case 10:
		return &Logical{Timestamp: &Timestamp{UTC: true, Unit: micros}}
	case 11, 12, 13, 14: // unsigned of 8, 16, 32 and 64 bits
		return &Logical{Integer: &Integer{Bits: 8 << (c - 11)}}
	case 15, 16, 17, 18:
		return &Logical{Integer: &Integer{Bits: 8 << (c - 15), Signed: true}}
	case 19:
		return &Logical{JSON: is}
	case 20:
		return &Logical{BSON: is}
	case 21:
		return &Logical{interval: true}
	}
	return &Logical{Unknown: is}
}

// RowGroup is a horizontal part of the table: one column chunk for each column.
type RowGroup struct {
	Chunks []ColumnChunk `thrift:"1"`
	Bytes  int64         `thrift:"2"` // of pages, uncompressed
	Rows   int64         `thrift:"3"`
	Offset *int64        `thrift:"5"`
	Packed *int64        `thrift:"6"` // bytes of pages, compressed
	Number *int16        `thrift:"7"`
}

// ColumnChunk is the part of a column that is in a row group.
type ColumnChunk struct {
	Path      *string    `thrift:"1"` // of another file that has the chunk
	Offset    int64      `thrift:"2"`
	Meta      *ChunkMeta `thrift:"3"`
	Encrypted *struct{}  `thrift:"8"`
	// The position and length of the two parts of the page index, if the chunk
	// has one.
	Locations       *int64 `thrift:"4"`
	LocationsLength *int32 `thrift:"5"`
	Bounds          *int64 `thrift:"6"`
	BoundsLength    *int32 `thrift:"7"`
}

// offsetIndex says where the data pages of a column chunk are.
type offsetIndex struct {
	Pages []PageLocation `thrift:"1"`
}

// PageLocation is where a data page is, and its first row in the row group.
type PageLocation struct {
	Offset int64 `thrift:"1"`
	Packed int32 `thrift:"2"` // with the header
	Row    int64 `thrift:"3"`
}

// columnIndex has the bounds of each data page, like Statistics. A page without
// values has empty ones.
type columnIndex struct {
	Min [][]byte `thrift:"2"`
	Max [][]byte `thrift:"3"`
}

// ChunkMeta says where the pages of a column chunk are and how they are
// encoded.
type ChunkMeta struct {
	Type       Type        `thrift:"1"`
	Encodings  []Encoding  `thrift:"2"`
	Path       []string    `thrift:"3"` // in the schema
	Codec      Codec       `thrift:"4"`
	Values     int64       `thrift:"5"` // with the missing ones
	Bytes      int64       `thrift:"6"` // of pages with headers, uncompressed
	Packed     int64       `thrift:"7"` // of pages with headers, compressed
	Data       int64       `thrift:"9"` // where the first data page is
	Dictionary *int64      `thrift:"11"`
	Statistics *Statistics `thrift:"12"`
	// Pages counts the pages by kind and encoding. Old writers leave it out.
	Pages []PageEncoding `thrift:"13"`
	Bloom *int64         `thrift:"14"` // where the Bloom filter is
}

// PageEncoding is how many pages of a kind have an encoding.
type PageEncoding struct {
	Kind     int32    `thrift:"1"`
	Encoding Encoding `thrift:"2"`
	Count    int32    `thrift:"3"`
}

// HasPlaces reports whether the metadata say that the values of all data pages
// are places in a dictionary.
func (m *ChunkMeta) HasPlaces() bool {
	data := 0
	for _, p := range m.Pages {
		if p.Kind != dataPage && p.Kind != dataPageV2 || p.Count == 0 {
			continue
		}
		if p.Encoding != PlainDictionary && p.Encoding != RLEDictionary {
			return false
		}
		data++
	}
	return data > 0
}

// Statistics are bounds of values, as PLAIN bytes without a length.
type Statistics struct {
	Nulls *int64 `thrift:"3"`
	Max   []byte `thrift:"5"`
	Min   []byte `thrift:"6"`
}

// The kinds of pages.
const (
	dataPage       int32 = 0
	dictionaryPage int32 = 2
	dataPageV2     int32 = 3
)

// PageHeader stands before each page. The pointer that is not nil says what the
// page is.
type PageHeader struct {
	Kind       int32             `thrift:"1"`
	Bytes      int32             `thrift:"2"` // uncompressed
	Packed     int32             `thrift:"3"` // in the file
	Data       *DataHeader       `thrift:"5"`
	Dictionary *DictionaryHeader `thrift:"7"`
	DataV2     *DataHeaderV2     `thrift:"8"`
}

// DataHeader is that of a page whose levels are compressed with its values.
type DataHeader struct {
	Values     int32    `thrift:"1"` // with the missing ones
	Encoding   Encoding `thrift:"2"`
	Definition Encoding `thrift:"3"`
	Repetition Encoding `thrift:"4"`
}

// DictionaryHeader is that of a dictionary, whose values are PLAIN.
type DictionaryHeader struct {
	Values   int32    `thrift:"1"`
	Encoding Encoding `thrift:"2"`
}

// DataHeaderV2 is that of a page whose levels are not compressed.
type DataHeaderV2 struct {
	Values          int32    `thrift:"1"` // with the missing ones
	Nulls           int32    `thrift:"2"`
	Rows            int32    `thrift:"3"`
	Encoding        Encoding `thrift:"4"`
	DefinitionBytes int32    `thrift:"5"`
	RepetitionBytes int32    `thrift:"6"`
	Compressed      *bool    `thrift:"7"` // nil is true
}
