package rfdb

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
)

// errKilled is the error of a disk whose process has been killed.
var errKilled = errors.New("killed")

// image is a disk in memory. What is written reaches the platter when it is
// synced; before that, a crash may keep any sectors of it.
type image struct {
	data    []byte // as the process sees it
	platter []byte
	pending []change
	left    int // operations until the process is killed; negative: never
}

// change is an operation that has not been synced. A truncation has no data.
type change struct {
	at   int64
	data []byte
}

// sector is the bytes that a crash keeps or loses together. It is far less than
// that of a disk, so that roots tear, too.
const sector = 16

func newImage(data []byte) *image {
	return &image{data: bytes.Clone(data), platter: bytes.Clone(data), left: -1}
}

func (d *image) step() error {
	if d.left == 0 {
		return errKilled
	}
	d.left--
	return nil
}

// extended returns the data with at least size bytes.
func extended(data []byte, size int64) []byte {
	if n := size - int64(len(data)); n > 0 {
		data = append(data, make([]byte, n)...)
	}
	return data
}

func (d *image) ReadAt(to []byte, at int64) (int, error) {
	if at >= int64(len(d.data)) {
		return 0, io.EOF
	}
	n := copy(to, d.data[at:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

func (d *image) WriteAt(data []byte, at int64) (int, error) {
	if err := d.step(); err != nil {
		return 0, err
	}
	d.data = extended(d.data, at+int64(len(data)))
	copy(d.data[at:], data)
	d.pending = append(d.pending, change{at, bytes.Clone(data)})
	return len(data), nil
}

func (d *image) Truncate(size int64) error {
	if err := d.step(); err != nil {
		return err
	}
	d.data = extended(d.data, size)[:size]
	d.pending = append(d.pending, change{at: size})
	return nil
}

func (d *image) Sync() error {
	if err := d.step(); err != nil {
		return err
	}
	d.platter, d.pending = bytes.Clone(d.data), nil
	return nil
}

func (d *image) Size() (int64, error) { return int64(len(d.data)), nil }
func (d *image) Close() error         { return nil }

// Map returns the bytes aligned as those of a mapping.
func (d *image) Map(size int64) (*mapping, error) {
	if size > int64(len(d.data)) {
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, size+pageSize)
	data = data[-address(data)&(pageSize-1):][:size]
	copy(data, d.data)
	return &mapping{data}, nil
}

// crash returns what is on the platter after a loss of power: of what was not
// synced, some sectors, in any order.
func (d *image) crash(r *rand.Rand) []byte {
	out := bytes.Clone(d.platter)
	keep := r.Float64()
	order := r.Perm(len(d.pending))
	if r.IntN(2) == 0 { // most disks write in order
		for i := range order {
			order[i] = i
		}
	}
	for _, i := range order {
		c := d.pending[i]
		if c.data == nil {
			if r.Float64() < keep {
				out = extended(out, c.at)[:c.at]
			}
			continue
		}
		for from := 0; from < len(c.data); {
			until := min(len(c.data), from+sector-int((c.at+int64(from))%sector))
			if r.Float64() < keep {
				out = extended(out, c.at+int64(until))
				copy(out[c.at+int64(from):], c.data[from:until])
			}
			from = until
		}
	}
	return out
}
