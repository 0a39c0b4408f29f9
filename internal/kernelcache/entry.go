package kernelcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is the polynomial that processors have instructions for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// magic starts every entry. It changes when the layout of entries does, so that
// entries of other versions are foreign.
const magic = "redfox kernel 2\n"

// headerSize is the length of the magic, the key's sum, the object's length and
// the object's sum. That of the object guards against damage and nothing else,
// so that it is one that costs less than reading the object.
const headerSize = len(magic) + sha256.Size + 8 + crc32.Size

// encode returns the contents of an entry's file.
func encode(id [sha256.Size]byte, object []byte) []byte {
	out := make([]byte, 0, headerSize+len(object))
	out = append(out, magic...)
	out = append(out, id[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(object)))
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(object, castagnoli))
	return append(out, object...)
}

// decode returns the object of an entry's file, unless the file is anything but
// the whole entry of that key.
func decode(id [sha256.Size]byte, data []byte) ([]byte, bool) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, false
	}
	head, object := data[len(magic):headerSize], data[headerSize:]
	whole := bytes.Equal(head[:sha256.Size], id[:]) &&
		binary.LittleEndian.Uint64(head[sha256.Size:]) == uint64(len(object)) &&
		binary.LittleEndian.Uint32(head[sha256.Size+8:]) == crc32.Checksum(object, castagnoli)
	return object, whole
}
