package kernelcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// magic starts every entry. It changes when the layout of entries does, so that
// entries of other versions are foreign.
const magic = "redfox kernel 1\n"

// headerSize is the length of the magic, the key's sum, the object's length and
// the object's sum.
const headerSize = len(magic) + sha256.Size + 8 + sha256.Size

// encode returns the contents of an entry's file.
func encode(id [sha256.Size]byte, object []byte) []byte {
	out := make([]byte, 0, headerSize+len(object))
	out = append(out, magic...)
	out = append(out, id[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(object)))
	sum := sha256.Sum256(object)
	out = append(out, sum[:]...)
	return append(out, object...)
}

// decode returns the object of an entry's file, unless the file is anything but
// the whole entry of that key.
func decode(id [sha256.Size]byte, data []byte) ([]byte, bool) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, false
	}
	head, object := data[len(magic):headerSize], data[headerSize:]
	sum := sha256.Sum256(object)
	whole := bytes.Equal(head[:sha256.Size], id[:]) &&
		binary.LittleEndian.Uint64(head[sha256.Size:]) == uint64(len(object)) &&
		bytes.Equal(head[sha256.Size+8:], sum[:])
	return object, whole
}
