package parquet

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// magic is at both ends of a file.
const magic = "PAR1"

// maxDepth bounds the nesting of a schema.
const maxDepth = 100

// Footer describes a file.
type Footer struct {
	Rows    int64
	Columns []Column
	Groups  []RowGroup        // each with a chunk for each column
	Digest  [sha256.Size]byte // of the footer's bytes
}

// Column is a column without parts.
type Column struct {
	Name    string // of nested columns: the names on the way to it, with dots between
	Type    Type
	Length  int      // bytes of a FixedLenByteArray
	Logical *Logical // nil if values mean what their type says
	// Definition is the level of a value that is there: how many elements on
	// the way to it may be missing. Repetition is how many may repeat.
	Definition, Repetition int
}

// ReadFooter reads the footer of a file of size bytes.
func ReadFooter(r io.ReaderAt, size int64) (*Footer, error) {
	const tail = 4 + len(magic)
	if size < int64(len(magic)+tail) {
		return nil, errors.New("it has no footer")
	}
	var end [tail]byte
	if err := readAt(r, end[:], size-int64(tail)); err != nil {
		return nil, err
	}
	if string(end[4:]) == "PARE" {
		return nil, errors.New("its footer is encrypted")
	}
	if string(end[4:]) != magic {
		return nil, fmt.Errorf("it does not end in %s", magic)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(len(magic)+tail) {
		return nil, errors.New("its footer is longer than the file")
	}
	data := make([]byte, length)
	if err := readAt(r, data, size-int64(tail)-length); err != nil {
		return nil, err
	}
	var meta fileMetadata
	if _, err := unmarshal(data, &meta); err != nil {
		return nil, err
	}
	if meta.Rows < 0 || len(meta.Schema) == 0 || meta.Schema[0].Children == nil {
		return nil, damaged("its footer has no schema or no number of rows")
	}
	f := &Footer{Rows: meta.Rows, Groups: meta.Groups, Digest: sha256.Sum256(data)}
	root := meta.Schema[0]
	rest, err := f.children(meta.Schema[1:], &root, Column{}, 0)
	if err == nil && len(rest) > 0 {
		err = damaged("its schema has elements that belong to no group")
	}
	if err == nil {
		err = f.check(size)
	}
	return f, err
}

// readAt fills b. A file that ends in it is cut short.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// children adds the columns in a group and returns the elements after it.
func (f *Footer) children(
	rest []schemaElement, group *schemaElement, at Column, depth int,
) ([]schemaElement, error) {
	if depth > maxDepth {
		return nil, damaged("its schema is nested deeper than %d groups", maxDepth)
	}
	for n := *group.Children; n > 0; n-- {
		if len(rest) == 0 {
			return nil, damaged("its schema ends early")
		}
		e := &rest[0]
		rest = rest[1:]
		c := at
		c.Name += e.Name
		if e.Repetition != nil && *e.Repetition != required {
			c.Definition++
			if *e.Repetition == repeated {
				c.Repetition++
			}
		}
		if e.Type == nil || e.Children != nil && *e.Children > 0 {
			c.Name += "."
			var err error
			if e.Children == nil {
				return nil, damaged("column %s has no type", e.Name)
			}
			if rest, err = f.children(rest, e, c, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		c.Type, c.Logical = *e.Type, e.meaning()
		if c.Type < Boolean || c.Type > FixedLenByteArray {
			return nil, damaged("column %s has the unknown type %v", c.Name, c.Type)
		}
		if c.Logical != nil && !c.Logical.fits(c.Type) {
			return nil, damaged("column %s has values of type %v that mean %v", c.Name, c.Type,
				c.Logical)
		}
		if c.Type == FixedLenByteArray {
			if e.Length == nil || *e.Length <= 0 {
				return nil, damaged("column %s has no length", c.Name)
			}
			c.Length = int(*e.Length)
		}
		f.Columns = append(f.Columns, c)
	}
	return rest, nil
}

// check compares the row groups with the schema and the size of the file.
func (f *Footer) check(size int64) error {
	for g, group := range f.Groups {
		if group.Rows < 0 || len(group.Chunks) != len(f.Columns) {
			return damaged("row group %d has %d columns and %d rows, the schema %d columns",
				g+1, len(group.Chunks), group.Rows, len(f.Columns))
		}
		for i, chunk := range group.Chunks {
			c, m := &f.Columns[i], chunk.Meta
			switch {
			case chunk.Encrypted != nil || m == nil:
				return fmt.Errorf("column %s is encrypted, or has no metadata", c.Name)
			case chunk.Path != nil && *chunk.Path != "":
				return fmt.Errorf("column %s is in another file, %s", c.Name, *chunk.Path)
			case m.Type != c.Type:
				return damaged("column %s is %v in row group %d and %v in the schema",
					c.Name, m.Type, g+1, c.Type)
			case m.start() < 0 || m.Packed < 0 || m.Values < 0 || m.Bytes < 0 ||
				m.Packed > size || m.start() > size-m.Packed:
				return damaged("column %s of row group %d lies outside the file", c.Name, g+1)
			}
		}
	}
	return nil
}

// start returns where the first page of the chunk is.
func (m *ChunkMeta) start() int64 {
	if d := m.Dictionary; d != nil && *d > 0 && *d < m.Data {
		return *d
	}
	return m.Data
}
