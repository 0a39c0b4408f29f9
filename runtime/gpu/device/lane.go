package device

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Lane is what a run needs from the driver: a stream, a second stream that can
// interrupt the first, pinned memory, and timers. A lane serves one run at a
// time, and runs reuse lanes.
type Lane struct {
	gpu    driver.Context
	Stream driver.Stream
	Urgent driver.Stream
	Pinned driver.HostMemory // or nil if the driver has none

	Mirror []int64 // the host's copy of a run's control block
	// The parts of pinned memory, if there is any: the control block in
	// transit, a ring of words in transit to the device (used since the last
	// wait for the stream), control blocks that a run did not wait for, and
	// results in transit to the host.
	block   []int64
	ring    []int64
	used    int
	Log     []int64
	Results []byte
	timers  []driver.Event
	// Captured reports that the stream records commands instead of executing
	// them. The host cannot wait for it.
	Captured bool
}

// The words of each part of pinned memory.
const (
	blockWords  = 1 << 12
	ringWords   = 1 << 13
	ResultWords = 1 << 17
)

// ErrCaptured is the error of a wait in a captured run.
var ErrCaptured = errors.New("a run that is captured cannot wait")

func newLane(gpu driver.Context) (*Lane, error) {
	l := &Lane{gpu: gpu}
	if err := l.open(); err != nil {
		_ = l.Close() // err says why there is no lane
		return nil, err
	}
	return l, nil
}

func (l *Lane) open() (err error) {
	if l.Stream, err = l.gpu.NewStream(); err != nil {
		return err
	}
	if l.Urgent, err = l.gpu.NewStream(); err != nil {
		return err
	}
	return l.Fit(blockWords, 0, ResultWords)
}

// Fit makes room for a control block of block words, for log words of logged
// blocks, and for results words of results. The stream must be idle.
func (l *Lane) Fit(block, log, results int) error {
	if len(l.Mirror) < block {
		l.Mirror = make([]int64, block)
	}
	none := l.Pinned == nil && l.block != nil // the driver cannot pin memory
	if block <= len(l.block) && (none || log <= len(l.Log) && results <= len(l.Results)/8) {
		return nil
	}
	block, log = max(block, len(l.block)), max(log, len(l.Log))
	results = max(results, len(l.Results)/8)
	old := l.Pinned
	words := block + ringWords + results + log
	var err error
	l.Pinned, err = l.gpu.AllocHost(8*words, cuda.HostOptions{})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.Pinned = nil
		l.block, l.ring = make([]int64, block), make([]int64, ringWords)
		return nil
	case err != nil:
		l.Pinned = old
		return err
	}
	all := unsafe.Slice((*int64)(unsafe.Pointer(&l.Pinned.Bytes()[0])), words)
	take := func(n int) []int64 {
		taken := all[:n:n]
		all = all[n:]
		return taken
	}
	l.block, l.ring, l.Results, l.Log = take(block), take(ringWords), BytesOf(take(results)),
		take(log)
	if old != nil {
		return old.Close()
	}
	return nil
}

// Close returns everything to the driver.
func (l *Lane) Close() error {
	var errs []error
	for _, t := range l.timers {
		errs = append(errs, t.Close())
	}
	if l.Stream != nil {
		errs = append(errs, l.Stream.Close())
	}
	if l.Urgent != nil {
		errs = append(errs, l.Urgent.Close())
	}
	if l.Pinned != nil {
		errs = append(errs, l.Pinned.Close())
	}
	return errors.Join(errs...)
}

// Wait waits for the stream.
func (l *Lane) Wait(ctx context.Context) error {
	if l.Captured {
		return ErrCaptured
	}
	if err := l.Stream.Synchronize(ctx); err != nil {
		return err
	}
	l.used = 0
	return nil
}

// put sets words of device memory.
func (l *Lane) put(ctx context.Context, to cuda.Pointer, words ...int64) error {
	for len(words) > 0 {
		if l.used == len(l.ring) {
			if err := l.Wait(ctx); err != nil {
				return err
			}
		}
		n := copy(l.ring[l.used:], words)
		if err := l.Stream.CopyToDevice(to, BytesOf(l.ring[l.used:l.used+n])); err != nil {
			return err
		}
		l.used += n
		to += cuda.Pointer(8 * n)
		words = words[n:]
	}
	return nil
}

// stage returns a copy of bytes in the ring, which the stream may read at any
// later time. If there is no room, the error is ErrCaptured.
func (l *Lane) stage(from []byte) ([]byte, error) {
	n := (len(from) + 7) / 8
	if l.used+n > len(l.ring) {
		return nil, ErrCaptured
	}
	to := BytesOf(l.ring[l.used:][:n])[:len(from)]
	l.used += n
	copy(to, from)
	return to, nil
}

// Address returns the device address of a part of the lane's pinned memory,
// which must not be empty.
func (l *Lane) Address(b []byte) cuda.Pointer {
	first := uintptr(unsafe.Pointer(&l.Pinned.Bytes()[0]))
	return l.Pinned.Pointer() + cuda.Pointer(uintptr(unsafe.Pointer(&b[0]))-first)
}

// timer returns the timer number n of a run.
func (l *Lane) timer(n int) (driver.Event, error) {
	for len(l.timers) <= n {
		t, err := l.gpu.NewTimer()
		if err != nil {
			return nil, err
		}
		l.timers = append(l.timers, t)
	}
	return l.timers[n], nil
}

// BytesOf returns the memory of a slice of numbers as bytes.
func BytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// mostIdle bounds the unused lanes, because each graph that is closed returns a
// lane.
const mostIdle = 16

// isLarge reports whether a lane has more pinned memory than ordinary runs
// need. The lane of a graph with many results has.
func (l *Lane) isLarge() bool {
	const usual = blockWords + ringWords + ResultWords
	return len(l.block)+len(l.ring)+len(l.Results)/8+len(l.Log) > 2*usual
}

// Lanes holds the unused lanes of a device.
type Lanes struct {
	GPU  driver.Context
	mu   sync.Mutex
	idle []*Lane
}

// Take returns an unused lane, or makes one.
func (l *Lanes) Take() (*Lane, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		found := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return found, nil
	}
	l.mu.Unlock()
	return newLane(l.GPU)
}

// Give returns a lane, whose stream may only have frees pending. It closes the
// lane if the device is lost, the lane is large, or there are mostIdle lanes.
func (l *Lanes) Give(x *Lane) {
	if l.GPU.Lost() != nil || x.isLarge() || !l.keep(x) {
		_ = x.Close() // fails on a lost device, whose streams are gone
	}
}

// keep stores a lane for a later run, unless there are enough.
func (l *Lanes) keep(x *Lane) bool {
	x.used = 0
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) >= mostIdle {
		return false
	}
	l.idle = append(l.idle, x)
	return true
}

// Trim closes the unused lanes after the pending frees of their streams.
func (l *Lanes) Trim() error {
	l.mu.Lock()
	idle := l.idle
	l.idle = nil
	l.mu.Unlock()
	var errs []error
	for _, x := range idle {
		errs = append(errs, x.Wait(context.Background()), x.Close())
	}
	return errors.Join(errs...)
}

// Close closes the lanes that no run uses.
func (l *Lanes) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, x := range l.idle {
		errs = append(errs, x.Close())
	}
	l.idle = nil
	return errors.Join(errs...)
}

// control is the block of a run's counters in device memory: gauges, dropped
// decimals, faults, and other counts. The lane's mirror is the host's copy, as
// of the last wait.
type control struct {
	*Lane
	Device Buffer
	Words  int
	Fresh  bool // the mirror equals the device's block
	// Limits are the gauges in use. Lowering their limits stops kernels.
	Limits []int
	Image  *image // the image of a captured run, or nil
}

// The words of the block. Gauges are of two words, each on a line of the cache
// of its own.
const (
	DroppedWord = 0
	FaultWord   = 1
	CountWord   = 2 // of whatever a command of the run counts
	GaugeWords  = 16
	FirstGauge  = GaugeWords
)

// Unlimited is the limit of what needs no room.
const Unlimited = math.MaxInt64

// NewGauge declares a gauge and returns its word.
func (c *control) NewGauge() int {
	at := c.Words
	c.Words += GaugeWords
	c.Limits = append(c.Limits, at+1)
	return at
}

// start places the block in device memory. All cursors are 0 and all limits are
// open. The mirror gets the initial contents.
func (c *control) start(device Buffer) {
	c.Device = device
	clear(c.Mirror[:c.Words])
	for _, at := range c.Limits {
		c.Mirror[at] = Unlimited
	}
	c.Fresh = true
}

// At returns the device address of a word.
func (c *control) At(word int) cuda.Pointer { return c.Device.At + cuda.Pointer(8*word) }

// Sync waits for the stream and updates the mirror.
func (c *control) Sync(ctx context.Context) error {
	if c.Fresh {
		return nil
	}
	if err := c.Stream.CopyToHost(BytesOf(c.block[:c.Words]), c.Device.At); err != nil {
		return err
	}
	if err := c.Wait(ctx); err != nil {
		return err
	}
	copy(c.Mirror, c.block[:c.Words])
	c.Fresh = true
	return nil
}

// put sets words of device memory.
func (c *control) put(ctx context.Context, to cuda.Pointer, words ...int64) error {
	if c.Image != nil {
		if done, err := c.Image.copy(c.Stream, to, BytesOf(words)); done || err != nil {
			return err
		}
	}
	return c.Lane.put(ctx, to, words...)
}

// Set sets consecutive words of the block.
func (c *control) Set(ctx context.Context, word int, values ...int64) error {
	copy(c.Mirror[word:], values)
	if c.Image != nil && len(values) == 1 && c.Image.setsLimit(word) {
		return c.Image.put(c.At(word), values)
	}
	return c.put(ctx, c.At(word), values...)
}

// Stop stops running kernels when they next read a gauge, and waits for them.
// It is called when the run's context is done. It repeats itself, because
// commands in the stream may reset limits.
func (c *control) Stop() error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		for _, at := range c.Limits {
			// The smallest limit has only the highest bit set.
			if err := c.Urgent.Fill32(c.At(at)+4, 1<<31, 1); err != nil {
				return err
			}
		}
		if err := c.Urgent.Synchronize(context.Background()); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), pause)
		err := c.Wait(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}
