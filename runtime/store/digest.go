package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// digestPart is the number of bytes that a thread digests at a time.
const digestPart = 4 << 20

// Digest returns a SHA-256 over the whole database: relations, tables, and the
// words, statistics and dictionaries of their columns, in the order in which
// they were put. Equal tuples that are stored differently have different
// digests, and so has the same database on machines of another byte order. For
// columns with Encoded set, it uses the identity of the file.
func (db *Database) Digest(threads int) [sha256.Size]byte {
	h := sha256.New()
	numbers := map[any]int{} // numbers of tables and dictionaries, by first use
	var tables []*Table
	var dicts []*Dict
	for _, r := range db.Relations() {
		if _, ok := numbers[r.Table]; !ok {
			numbers[r.Table] = len(numbers)
			tables = append(tables, r.Table)
		}
		fmt.Fprintf(h, "relation %q %d %v %d %t\n", r.Name, numbers[r.Table], r.Cols, r.Keys,
			r.InOrder)
	}
	var parts [][]byte
	for _, t := range tables {
		fmt.Fprintf(h, "table %q %q %d\n", t.Name, t.Names, t.Rows)
		for _, c := range t.Columns {
			dict := -1
			if c.Dict != nil {
				if _, ok := numbers[c.Dict]; !ok {
					numbers[c.Dict] = len(numbers)
					dicts = append(dicts, c.Dict)
				}
				dict = numbers[c.Dict]
			}
			fmt.Fprintf(h, "column %v %d %d %d %d %d %+v\n", c.Type, dict, c.Base, c.Step, c.Width,
				c.n,
				c.Stats)
			if e, ok := c.Encoded.(interface{ Identity() string }); ok && e.Identity() != "" {
				fmt.Fprintf(h, "encoded %q\n", e.Identity()) // decoded or not
				continue
			}
			parts = appendParts(parts, c.Entries())
		}
	}
	for _, d := range dicts {
		fmt.Fprintf(h, "dictionary %d %d\n", d.Sorted(), d.Len())
		a := d.arena()
		parts = appendParts(parts, a.data)
		parts = appendParts(parts, bytesOf(a.ends))
		parts = appendParts(parts, bytesOf(a.wide))
		for code := d.Sorted(); code < d.Len(); code++ {
			fmt.Fprintf(h, "%q\n", d.String(uint32(code)))
		}
	}
	digestParts(h, parts, threads)
	goruntime.KeepAlive(db) // owns the columns' memory
	return [sha256.Size]byte(h.Sum(nil))
}

// digestParts writes the length and the digest of each part.
func digestParts(h hash.Hash, parts [][]byte, threads int) {
	sums := make([][sha256.Size]byte, len(parts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(threads, len(parts)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				sums[i] = sha256.Sum256(parts[i])
			}
		})
	}
	wg.Wait()
	for i, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(sums[i][:])
	}
}

func appendParts(parts [][]byte, b []byte) [][]byte {
	for len(b) > digestPart {
		parts, b = append(parts, b[:digestPart]), b[digestPart:]
	}
	return append(parts, b)
}

// bytesOf returns the memory of a slice.
func bytesOf[T unsigned](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))),
		len(s)*int(unsafe.Sizeof(*new(T))))
}
