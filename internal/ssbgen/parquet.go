package ssbgen

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// magic is at both ends of a Parquet file.
const magic = "PAR1"

// rowGroup is an encoded row group, as the only one of a file.
type rowGroup struct {
	data []byte // pages of all columns
	meta *metadata.FileMetaData
}

// encode makes a row group of columns of the same length.
func encode(columns []column) (*rowGroup, error) {
	options := []parquet.WriterProperty{
		parquet.WithCreatedBy("redfox"),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(1),
		parquet.WithVersion(parquet.V2_LATEST),
	}
	var fields schema.FieldList
	for _, c := range columns {
		node, err := c.values.node(c.name)
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
		options = append(options, parquet.WithDictionaryFor(c.name, !c.plain))
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		chunk, err := group.NextColumn()
		if err != nil {
			return nil, err
		}
		if err := c.values.write(chunk); err != nil {
			return nil, err
		}
		if err := chunk.Close(); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		return nil, err
	}
	footer := 8 + r.MetaData().Size()
	return &rowGroup{data: out.Bytes()[len(magic) : out.Len()-footer], meta: r.MetaData()}, nil
}

// fileWriter joins row groups to one file. Encoding is most of the work, and can so be
// done for several row groups at once.
type fileWriter struct {
	w    io.Writer
	at   int64 // bytes written
	meta *metadata.FileMetaData
}

// append adds a row group at the end. Places in its metadata become those in the file.
func (f *fileWriter) append(g *rowGroup) error {
	if f.meta == nil {
		if _, err := io.WriteString(f.w, magic); err != nil {
			return err
		}
		f.at = int64(len(magic))
	}
	moved := f.at - int64(len(magic))
	move := func(place *int64) {
		if place != nil {
			*place += moved
		}
	}
	for _, rg := range g.meta.RowGroups {
		move(rg.FileOffset)
		if rg.Ordinal != nil && f.meta != nil {
			*rg.Ordinal = int16(f.meta.NumRowGroups())
		}
		for _, c := range rg.Columns {
			move(&c.FileOffset)
			move(&c.MetaData.DataPageOffset)
			move(c.MetaData.DictionaryPageOffset)
		}
	}
	n, err := f.w.Write(g.data)
	f.at += int64(n)
	if err != nil {
		return err
	}
	if f.meta == nil {
		f.meta = g.meta
		return nil
	}
	return f.meta.AppendRowGroups(g.meta)
}

// close writes the footer.
func (f *fileWriter) close() error {
	n, err := f.meta.WriteTo(f.w, nil)
	if err != nil {
		return err
	}
	_, err = f.w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
	return err
}
