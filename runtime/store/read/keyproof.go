package read

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/internal/fileid"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Proofs store, across processes, that a list of columns of a Parquet file is a
// key: no two of its rows agree in all of them. The key of a proof identifies
// the contents of the file. Any of the functions may be nil.
type Proofs struct {
	// Identity is fileid.Of; tests replace it.
	Identity func(fs.FileInfo) string
	Get      func(key string) ([]byte, bool)
	Put      func(key string, proof []byte)
}

// identify sets the identity of the file's contents, if it can be determined.
func (p *parquetLoad) identify() {
	if len(p.constants) > 0 {
		return // a key may have columns that the file does not have
	}
	file, ok := p.file.ReaderAt.(*os.File)
	if !ok || p.source.Reader != nil || p.opts.Proofs.Get == nil || p.opts.Proofs.Put == nil {
		return
	}
	info, err := file.Stat()
	if err != nil {
		return
	}
	of := p.opts.Proofs.Identity
	if of == nil {
		of = fileid.Of
	}
	path, err := filepath.Abs(p.source.Path)
	if id := of(info); err == nil && id != "" {
		p.identity = fmt.Sprintf("%q %s footer %x", path, id, p.file.Digest)
	}
}

// proofKey returns the key of the proof for the fields.
func (l *load) proofKey(fields []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s rows differ in", l.identity)
	for _, i := range fields {
		fmt.Fprintf(&b, " %d as %v", l.fields[i].index, l.fields[i].typ)
	}
	return b.String()
}

// proofName identifies a list of fields within a load.
func proofName(fields []int) string { return fmt.Sprint(fields) }

// recall looks up the proofs for the keys of the uses.
func (l *load) recall() {
	l.proofs = map[string][]store.ColumnStats{}
	if l.identity == "" {
		return
	}
	for i, u := range l.source.Uses {
		key := l.args[i][:u.Schema.Keys]
		if len(key) == 0 || l.proofs[proofName(key)] != nil {
			continue
		}
		if data, ok := l.opts.Proofs.Get(l.proofKey(key)); ok {
			if stats := decodeProof(data, len(key)); stats != nil {
				l.proofs[proofName(key)] = stats
			}
		}
	}
}

// keepProofs stores the proofs that this load has found. table must hold all
// rows of the file.
func (l *load) keepProofs(table *store.Table, keyed keyCache) {
	if l.identity == "" {
		return
	}
	for i, u := range l.source.Uses {
		key := l.args[i][:u.Schema.Keys]
		name := proofName(key)
		if len(key) == 0 || !keyed.known[name] || l.proofs[name] != nil {
			continue
		}
		l.prove(key, statsOf(table.Pick(key)))
	}
}

// statsOf returns the statistics of columns that hold all rows of the file.
func statsOf(columns []*store.Column) []store.ColumnStats {
	return list.Map(columns, func(c *store.Column) store.ColumnStats { return c.Stats })
}

// prove records that the fields are a key of the file.
func (l *load) prove(fields []int, stats []store.ColumnStats) {
	l.proofs[proofName(fields)] = stats
	if l.identity != "" {
		l.opts.Proofs.Put(l.proofKey(fields), encodeProof(stats))
	}
}

// A proof has four numbers for each column: its bounds, its number of distinct
// values, and 1 if they ascend.
const proofBytes = 4 * 8

func encodeProof(stats []store.ColumnStats) []byte {
	var out []byte
	for _, s := range stats {
		ascends := int64(0)
		if s.Ascending {
			ascends = 1
		}
		for _, n := range [...]int64{s.Min, s.Max, s.Distinct, ascends} {
			out = binary.LittleEndian.AppendUint64(out, uint64(n))
		}
	}
	return out
}

// decodeProof returns nil if the data are not those of n columns.
func decodeProof(data []byte, n int) []store.ColumnStats {
	if len(data) != n*proofBytes {
		return nil
	}
	out := make([]store.ColumnStats, n)
	for i := range out {
		number := func(k int) int64 {
			return int64(binary.LittleEndian.Uint64(data[i*proofBytes+8*k:]))
		}
		out[i] = store.ColumnStats{Min: number(0), Max: number(1), Distinct: number(2),
			Ascending: number(3) == 1}
	}
	return out
}
