package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestMetadataRoundTrip wants that a footer with every kind of field is read as
// it was written, and that no part of one is read as a whole.
func TestMetadataRoundTrip(t *testing.T) {
	is, text, at, number := &struct{}{}, "redfox", int64(-1<<40), int16(7)
	compressed, children, kind := false, int32(20), Int64
	chunk := ColumnChunk{Offset: 4, Meta: &ChunkMeta{
		Type: Int64, Encodings: []Encoding{Plain, RLE}, Path: []string{"a", "b"}, Codec: Zstd,
		Values: 1 << 33, Data: 4, Dictionary: &at,
		Statistics: &Statistics{Min: []byte{}, Max: []byte{1, 2}},
	}}
	want := fileMetadata{
		Version: 2, Rows: 5, CreatedBy: &text, Orders: []columnOrder{{ByType: is}, {}},
		Schema: slices.Repeat([]schemaElement{{
			Type: &kind, Children: &children, Name: "x",
			Logical: &Logical{Timestamp: &Timestamp{UTC: true, Unit: TimeUnit{Nanos: is}}},
		}}, 20),
		Groups: []RowGroup{{Chunks: []ColumnChunk{chunk, chunk}, Rows: 5, Number: &number},
			{Chunks: []ColumnChunk{}}},
	}
	data := marshal(nil, &want)
	var got fileMetadata
	if n, err := unmarshal(data, &got); err != nil || n != len(data) ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%d of %d bytes read, %v: %+v, want %+v", n, len(data), err, got, want)
	}
	for cut := range data {
		if _, err := unmarshal(data[:cut], &fileMetadata{}); err != errShort {
			t.Fatalf("%d of %d bytes: %v", cut, len(data), err)
		}
	}
	header := PageHeader{Kind: dataPageV2, DataV2: &DataHeaderV2{Compressed: &compressed}}
	var back PageHeader
	if _, err := unmarshal(marshal(nil, &header), &back); err != nil ||
		!reflect.DeepEqual(back, header) {
		t.Errorf("%+v, want %+v: %v", back, header, err)
	}
}

// TestUnknownFields skips what other writers add.
func TestUnknownFields(t *testing.T) {
	type more struct {
		Values   int32            `thrift:"1"`
		Encoding Encoding         `thrift:"2"`
		Number   int64            `thrift:"3"`
		Text     string           `thrift:"4"`
		List     []int32          `thrift:"5"`
		Struct   DictionaryHeader `thrift:"6"`
		Structs  []TimeUnit       `thrift:"7"`
		Flag     bool             `thrift:"8"`
		Byte     int8             `thrift:"9"`
	}
	data := marshal(nil, &more{Values: 3, Text: "abc", List: make([]int32, 20),
		Structs: make([]TimeUnit, 2)})
	var got DictionaryHeader
	if n, err := unmarshal(data, &got); err != nil || n != len(data) || got.Values != 3 {
		t.Errorf("%d of %d bytes read: %+v, %v", n, len(data), got, err)
	}
}

func TestHybridRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		for range 20 {
			var numbers []uint32
			for range rng.IntN(30) {
				n := rng.Uint32() >> min(31, 32-width)
				if width == 0 {
					n = 0
				}
				numbers = append(numbers, slices.Repeat([]uint32{n}, 1+rng.IntN(1<<rng.IntN(7)))...)
			}
			h := Hybrid{data: appendHybrid(nil, numbers, width), width: width}
			got := make([]uint32, len(numbers))
			if err := h.Read(got); err != nil || !slices.Equal(got, numbers) {
				t.Fatalf("width %d: %v, want %v: %v", width, got, numbers, err)
			}
		}
	}
}

// TestLevelsOfOldWriters reads the example of the specification: the numbers 0
// to 7 packed from the highest bit on.
func TestLevelsOfOldWriters(t *testing.T) {
	h := packedFromTop([]byte{0b00000101, 0b00111001, 0b01110111}, 3, 8)
	got := make([]uint32, 8)
	if err := h.Read(got); err != nil || !slices.Equal(got, []uint32{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestWriter reads a written file of several row groups back.
func TestWriter(t *testing.T) {
	columns := []Column{{Name: "n", Type: Int32},
		{Name: "s", Type: ByteArray, Logical: &Logical{Text: &struct{}{}}},
		{Name: "b", Type: Boolean}}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewWriter(&out, "test", columns)
	rows := []int{1, pagePlaces + 5}
	for _, n := range rows {
		g := NewGroup(columns, z)
		var words Dictionary[string]
		for i := range n {
			g.Chunks[0].Values(binary.LittleEndian.AppendUint32(nil, uint32(i)), 1)
			g.Chunks[1].Numbers([]uint32{words.Place([]string{"a", "bc"}[i%2])})
			g.Chunks[2].Numbers([]uint32{uint32(i % 3 & 1)})
		}
		var plain []byte
		for _, s := range words.Values {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(s))), s...)
		}
		g.Chunks[1].Dictionary(plain, len(words.Values))
		g.Finish()
		if err := w.Append(g, int64(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(out.Bytes())
	f, err := ReadFooter(file, file.Size())
	if err != nil || len(f.Columns) != 3 || !reflect.DeepEqual(f.Columns[1], columns[1]) {
		t.Fatalf("%+v: %v", f, err)
	}
	var room Room
	for g, n := range rows {
		row := 0
		for pages := f.Pages(file, file.Size(), g, 2, &room); ; {
			page, err := pages.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			_, v, err := pages.Unpack(page)
			numbers := make([]uint32, page.Values())
			if err == nil {
				err = v.Numbers.Read(numbers)
			}
			for _, b := range numbers {
				if err != nil || b != uint32(row%3&1) {
					t.Fatalf("row %d of group %d is %d: %v", row, g, b, err)
				}
				row++
			}
		}
		if row != n {
			t.Errorf("group %d has %d rows, want %d", g, row, n)
		}
	}
}

// TestHostileHeaders refuses what would make a reader allocate more than a file
// of its size can hold.
func TestHostileHeaders(t *testing.T) {
	var room Room
	header := func(block, parts, total uint64) []byte {
		b := binary.AppendUvarint(nil, block)
		b = binary.AppendUvarint(binary.AppendUvarint(b, parts), total)
		return append(b, 0, 0, 0, 0, 0, 0)
	}
	for _, data := range [][]byte{
		header(128, 4, 1<<40), header(1<<40, 1, 5), header(0, 1, 5), header(128, 0, 5),
		header(128, 1<<62, 5), {1},
	} {
		if _, err := room.deltas(data, 8, 1<<20); err == nil {
			t.Errorf("% x is decoded", data)
		}
	}
	if _, err := room.deltas(header(128, 4, 1<<30), 8, 1<<30); err == nil {
		t.Error("a page of 8 GiB is decoded")
	}
	list := []byte{0x29, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F} // field 2: 2^32-1 structs
	if _, err := unmarshal(list, &fileMetadata{}); err != errShort {
		t.Errorf("a list that the data cannot hold: %v", err)
	}
	nested := bytes.Repeat([]byte{0xEC}, 1000) // field 14: a struct with field 14
	if _, err := unmarshal(nested, &PageHeader{}); err == nil || err == errShort {
		t.Errorf("a thousand nested structs: %v", err)
	}
}

// FuzzFile reads all pages of what claims to be a file.
func FuzzFile(f *testing.F) {
	files, _ := filepath.Glob("../../runtime/store/read/testdata/parquet/*.parquet")
	if len(files) == 0 {
		f.Fatal("no files to begin with")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := bytes.NewReader(data)
		footer, err := ReadFooter(file, file.Size())
		if err != nil {
			return
		}
		var room Room
		numbers := make([]uint32, 100)
		for g := range footer.Groups {
			for c := range footer.Columns {
				pages := footer.Pages(file, file.Size(), g, c, &room)
				for {
					page, err := pages.Next()
					if err != nil {
						break
					}
					if levels, v, err := pages.Unpack(page); err == nil {
						_ = levels.Read(numbers)
						_ = v.Numbers.Read(numbers)
					}
				}
			}
		}
	})
}
