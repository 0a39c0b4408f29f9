package rfdb

import (
	"encoding/binary"
	"hash/crc32"
)

// Extension is the extension of database files.
const Extension = ".rfdb"

// Format is the format version of new files. Files of earlier versions can be
// read; transactions append to them in their own format.
const Format = packedFormat

// packedFormat is the first version with packed columns and strings.
const packedFormat = 2

// Magic starts every file. It detects damage by a transfer as text: the first
// byte is not ASCII, and the rest has both kinds of line break.
const Magic = "\x89RDB\r\n\x1a\n"

const (
	rootMagic = "RFDBroot"

	pageSize  = 4096
	firstPage = 3 * pageSize // where transactions begin
	alignment = 64           // of sections that are shorter than a page
	// blockSize is the number of bytes that one checksum covers. Each width
	// divides it.
	blockSize = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// header returns the bytes of page 0 of a format.
func header(format uint32) []byte {
	page := make([]byte, pageSize)
	copy(page, Magic)
	binary.LittleEndian.PutUint32(page[8:], format)
	binary.LittleEndian.PutUint32(page[12:], checksum(page[:12]))
	return page
}

// checkHeader returns the format of a file that begins with start.
func checkHeader(start []byte) (format uint32, err error) {
	if len(start) < 16 || string(start[:8]) != Magic {
		if len(start) >= 8 && string(start[:8]) == Magic {
			return 0, &DamageError{"the header", int64(len(start)), "the file ends there"}
		}
		return 0, &ForeignError{start[:min(len(start), 8)]}
	}
	if checksum(start[:12]) != binary.LittleEndian.Uint32(start[12:]) {
		return 0, &DamageError{"the header", 8, "it differs from its checksum"}
	}
	if format = binary.LittleEndian.Uint32(start[8:]); format < 1 || format > Format {
		return 0, &VersionError{format, Format}
	}
	return format, nil
}

// IsDatabase reports whether a file with these first bytes is a database.
func IsDatabase(start []byte) bool { return len(start) >= 8 && string(start[:8]) == Magic }

// root is the root of a transaction.
type root struct {
	transaction uint64
	at, size    int64 // of the directory
	sum         uint32
	end         int64 // of the transaction; its last page has a copy of the root
}

const rootSize = 8 + 4*8 + 4 + 4

// page returns the root in the form of a page.
func (r root) page() []byte {
	page := make([]byte, 0, pageSize)
	page = append(page, rootMagic...)
	for _, n := range []uint64{r.transaction, uint64(r.at), uint64(r.size), uint64(r.end)} {
		page = binary.LittleEndian.AppendUint64(page, n)
	}
	page = binary.LittleEndian.AppendUint32(page, r.sum)
	page = binary.LittleEndian.AppendUint32(page, checksum(page))
	return page[:pageSize]
}

// slot is the offset of the root's page in the file.
func (r root) slot() int64 { return pageSize * (1 + int64(r.transaction%2)) }

// readRoot returns the root in a page, and whether the page has a valid one.
func readRoot(page []byte) (r root, ok bool) {
	if len(page) < rootSize || string(page[:8]) != rootMagic ||
		checksum(page[:rootSize-4]) != binary.LittleEndian.Uint32(page[rootSize-4:]) {
		return root{}, false
	}
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(page[8+8*i:])) }
	r = root{uint64(n(0)), n(1), n(2), binary.LittleEndian.Uint32(page[rootSize-8:]), n(3)}
	isPlace := r.at >= firstPage && r.size >= 0 && r.end%pageSize == 0 &&
		r.end >= firstPage+pageSize && r.at <= r.end-pageSize && r.size <= r.end-pageSize-r.at
	return r, isPlace
}
