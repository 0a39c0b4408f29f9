package conformance

import (
	"errors"
	"fmt"
	"math"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// copier is what contexts and streams have in common.
type copier interface {
	CopyToDevice(to cuda.Pointer, from []byte) error
	CopyToHost(to []byte, from cuda.Pointer) error
	Copy(to, from cuda.Pointer, bytes uint64) error
	Fill8(p cuda.Pointer, value uint8, n uint64) error
	Fill32(p cuda.Pointer, value uint32, n uint64) error
}

// copies moves and fills bytes, at once and by way of a stream.
func copies(f *fixture) error {
	const n = 1 << 20
	for _, by := range []copier{f.Context, f.stream} {
		if err := f.move(by, make([]byte, 2*n)); err != nil {
			return fmt.Errorf("%T: %w", by, err)
		}
	}
	return nil
}

// move has the first half of some bytes copied to the device, within it, filled
// in part, and copied to the second half.
func (f *fixture) move(by copier, bytes []byte) (err error) {
	n := len(bytes) / 2
	a, err := f.Alloc(uint64(n))
	if err != nil {
		return err
	}
	defer func() { err = first(err, f.Free(a)) }()
	b, err := f.Alloc(uint64(n))
	if err != nil {
		return err
	}
	defer func() { err = first(err, f.Free(b)) }()
	for i := range n {
		bytes[i] = byte(i * 7)
	}
	err = first(
		by.CopyToDevice(a, bytes[:n]),
		by.Copy(b, a, uint64(n)),
		by.Fill32(b, 0x01020304, 2),
		by.Fill8(b+cuda.Pointer(n)-3, 9, 3),
		by.CopyToHost(bytes[n:], b),
		f.sync(),
		// nothing to do
		by.CopyToDevice(a, nil), by.CopyToHost(nil, a), by.Copy(a, b, 0), by.Fill8(a, 1, 0),
		by.Fill32(a, 1, 0),
	)
	if err != nil {
		return err
	}
	for i := range n {
		want := byte(i * 7)
		switch {
		case i < 8:
			want = byte(4 - i%4)
		case i >= n-3:
			want = 9
		}
		if bytes[n+i] != want {
			return fmt.Errorf("byte %d is %d, not %d", i, bytes[n+i], want)
		}
	}
	return nil
}

func outOfMemory(f *fixture) error {
	_, err := f.Alloc(1 << 42)
	if err := wantKind("4 TiB", err, cuda.ErrOutOfMemory); err != nil {
		return err
	}
	p, err := f.Alloc(8)
	if err != nil {
		return err
	}
	if p%256 != 0 {
		return fmt.Errorf("memory at %#x", p)
	}
	return f.Free(p)
}

func hostMemory(f *fixture) error {
	const n = 1 << 20
	m, err := f.AllocHost(2*n, cuda.HostOptions{})
	if err != nil {
		return err
	}
	bytes := m.Bytes()
	err = f.move(f.stream, bytes)
	if err == nil { // a kernel writes it by its address
		err = first(f.launch("line", shape(1, 32), int64(m.Pointer()), 2, 5, 3), f.sync())
	}
	if err == nil && (word(bytes, 0) != 3 || word(bytes, 1) != 8) {
		err = fmt.Errorf("a kernel wrote %d, %d", word(bytes, 0), word(bytes, 1))
	}
	err = first(err, m.Close())
	if err == nil && m.Bytes() != nil {
		err = errors.New("bytes after Close")
	}
	return err
}

func pool(f *fixture) error {
	const n = 1 << 20
	p, err := f.NewPool(cuda.PoolOptions{ReleaseThreshold: math.MaxUint64})
	if err != nil {
		return err
	}
	a, err := p.Alloc(f.stream, n)
	if err != nil {
		return err
	}
	err = first(f.stream.Fill8(a, 1, n), f.stream.Free(a), f.sync())
	if err != nil {
		return err
	}
	use, err := p.Use()
	if err != nil || use.Used != 0 || use.UsedHigh < n || use.Reserved < n {
		return fmt.Errorf("the pool's use is %+v, %v", use, err)
	}
	if err := p.Trim(0); err != nil {
		return err
	}
	if use, err := p.Use(); err != nil || use.Reserved != 0 {
		return fmt.Errorf("after Trim the pool holds %+v, %v", use, err)
	}
	_, err = p.Alloc(f.stream, 1<<42)
	return first(wantKind("4 TiB of a pool", err, cuda.ErrOutOfMemory), p.Close())
}

func region(f *fixture) error {
	_, total, err := f.MemoryInfo()
	if err != nil {
		return err
	}
	r, err := f.Reserve(4 * total) // addresses cost nothing
	if err != nil {
		return err
	}
	if err := r.Grow(1); err != nil {
		return err
	}
	seam := r.Size()
	err = first(f.stream.Fill8(r.Base(), 7, seam), r.Grow(64<<20)) // with work under way
	if err != nil {
		return err
	}
	var two [2]byte
	at := r.Base() + cuda.Pointer(seam)
	err = first(f.stream.Fill8(at, 8, r.Size()-seam), f.sync(), f.CopyToHost(two[:], at-1))
	if err == nil && two != [2]byte{7, 8} {
		err = fmt.Errorf("around the seam lie %v", two)
	}
	if err != nil {
		return err
	}
	if err := wantKind("growing past the device's memory", r.Grow(2*total),
		cuda.ErrOutOfMemory); err != nil {
		return err
	}
	err = r.Shrink(seam)
	if err == nil && r.Size() != seam {
		err = fmt.Errorf("%d bytes are left", r.Size())
	}
	return first(err, r.Close())
}
