package gpu

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

// lane is what one run at a time needs of the driver: a stream, a second one to
// interrupt it with, pinned memory, timers. Runs take one over from each other.
type lane struct {
	gpu    driver.Context
	stream driver.Stream
	urgent driver.Stream
	pinned driver.HostMemory // nil where the driver has none

	mirror []int64 // a run's control block as the host knows it
	// Pinned memory, if there is any: the control block on its way, words on their way to
	// the device, of which some are used since the stream was waited for, control blocks
	// that a run did not wait for, and results on their way to the host.
	block   []int64
	ring    []int64
	used    int
	log     []int64
	results []byte
	timers  []driver.Event
	// captured says that what is put into the stream is recorded and not done, so that it
	// can not be waited for.
	captured bool
}

const (
	blockWords  = 1 << 12
	ringWords   = 1 << 13
	resultWords = 1 << 17
)

// errCaptured is a wait in a run that is captured.
var errCaptured = errors.New("a run that is captured can not wait")

func newLane(gpu driver.Context) (*lane, error) {
	l := &lane{gpu: gpu}
	if err := l.open(); err != nil {
		_ = l.close() // err says why there is no lane
		return nil, err
	}
	return l, nil
}

func (l *lane) open() (err error) {
	if l.stream, err = l.gpu.NewStream(); err != nil {
		return err
	}
	if l.urgent, err = l.gpu.NewStream(); err != nil {
		return err
	}
	return l.fit(blockWords, 0, resultWords)
}

// fit makes room for a control block of so many words, for as many of them as the log
// is to have words, and for so many words of results. The stream is done.
func (l *lane) fit(block, log, results int) error {
	if len(l.mirror) < block {
		l.mirror = make([]int64, block)
	}
	none := l.pinned == nil && l.block != nil // that can be had
	if block <= len(l.block) && (none || log <= len(l.log) && results <= len(l.results)/8) {
		return nil
	}
	block, log, results = max(block, len(l.block)), max(log, len(l.log)), max(results, len(l.results)/8)
	old := l.pinned
	words := block + ringWords + results + log
	var err error
	l.pinned, err = l.gpu.AllocHost(8*words, cuda.HostOptions{})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.pinned = nil
		l.block, l.ring = make([]int64, block), make([]int64, ringWords)
		return nil
	case err != nil:
		l.pinned = old
		return err
	}
	all := unsafe.Slice((*int64)(unsafe.Pointer(&l.pinned.Bytes()[0])), words)
	take := func(n int) []int64 {
		taken := all[:n:n]
		all = all[n:]
		return taken
	}
	l.block, l.ring, l.results, l.log = take(block), take(ringWords), bytesOf(take(results)), take(log)
	if old != nil {
		return old.Close()
	}
	return nil
}

func (l *lane) close() error {
	var errs []error
	for _, t := range l.timers {
		errs = append(errs, t.Close())
	}
	if l.stream != nil {
		errs = append(errs, l.stream.Close())
	}
	if l.urgent != nil {
		errs = append(errs, l.urgent.Close())
	}
	if l.pinned != nil {
		errs = append(errs, l.pinned.Close())
	}
	return errors.Join(errs...)
}

// wait waits for all that is in the stream.
func (l *lane) wait(ctx context.Context) error {
	if l.captured {
		return errCaptured
	}
	if err := l.stream.Synchronize(ctx); err != nil {
		return err
	}
	l.used = 0
	return nil
}

// put sets words of the device's memory.
func (l *lane) put(ctx context.Context, to cuda.Pointer, words ...int64) error {
	for len(words) > 0 {
		if l.used == len(l.ring) {
			if err := l.wait(ctx); err != nil {
				return err
			}
		}
		n := copy(l.ring[l.used:], words)
		if err := l.stream.CopyToDevice(to, bytesOf(l.ring[l.used:l.used+n])); err != nil {
			return err
		}
		l.used += n
		to += cuda.Pointer(8 * n)
		words = words[n:]
	}
	return nil
}

// stage returns a copy of bytes that the stream may read at any time to come, if there is
// room among the words on their way.
func (l *lane) stage(from []byte) ([]byte, error) {
	n := (len(from) + 7) / 8
	if l.used+n > len(l.ring) {
		return nil, errCaptured
	}
	to := bytesOf(l.ring[l.used:][:n])[:len(from)]
	l.used += n
	copy(to, from)
	return to, nil
}

// address returns where kernels find pinned memory of the lane, which is not empty.
func (l *lane) address(b []byte) cuda.Pointer {
	return l.pinned.Pointer() + cuda.Pointer(uintptr(unsafe.Pointer(&b[0]))-uintptr(unsafe.Pointer(&l.pinned.Bytes()[0])))
}

// timer returns the n-th timer of a run.
func (l *lane) timer(n int) (driver.Event, error) {
	for len(l.timers) <= n {
		t, err := l.gpu.NewTimer()
		if err != nil {
			return nil, err
		}
		l.timers = append(l.timers, t)
	}
	return l.timers[n], nil
}

// bytesOf views words, or other numbers, as bytes.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// mostIdle is how many lanes are kept that no run uses. Each graph has one, so that all the
// graphs there have ever been at a time would leave theirs.
const mostIdle = 16

// isLarge reports whether a lane has more pinned memory than runs want, as a graph's has
// whose results are many.
func (l *lane) isLarge() bool {
	const usual = blockWords + ringWords + resultWords
	return len(l.block)+len(l.ring)+len(l.results)/8+len(l.log) > 2*usual
}

// lanes are those that no run uses.
type lanes struct {
	gpu  driver.Context
	mu   sync.Mutex
	idle []*lane
}

func (l *lanes) take() (*lane, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		found := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return found, nil
	}
	l.mu.Unlock()
	return newLane(l.gpu)
}

// give takes back a lane whose stream has nothing left to do but to free memory. It is not
// kept if the device is lost, if it is large, or if there are enough.
func (l *lanes) give(x *lane) {
	if l.gpu.Lost() != nil || x.isLarge() || !l.keep(x) {
		_ = x.close() // it fails on a lost device, whose streams are gone
	}
}

// keep keeps a lane for a later run, unless there are enough.
func (l *lanes) keep(x *lane) bool {
	x.used = 0
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) >= mostIdle {
		return false
	}
	l.idle = append(l.idle, x)
	return true
}

// trim closes those that no run uses, once their streams have freed what runs have left.
func (l *lanes) trim() error {
	l.mu.Lock()
	idle := l.idle
	l.idle = nil
	l.mu.Unlock()
	var errs []error
	for _, x := range idle {
		errs = append(errs, x.wait(context.Background()), x.close())
	}
	return errors.Join(errs...)
}

func (l *lanes) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, x := range l.idle {
		errs = append(errs, x.close())
	}
	l.idle = nil
	return errors.Join(errs...)
}

// control is the block of a run's numbers: gauges, counters of dropped decimals, a word
// for faults and one for other counts. The lane's mirror has what it was when the stream
// was waited for.
type control struct {
	*lane
	device buffer
	words  int
	fresh  bool // the mirror is what the device has
	// limits are the gauges in use, which stop kernels when they are moved.
	limits []int
	image  *image // of a run that is captured, else nil
}

// The words of the block. Gauges are of two words, each on a line of the cache of its
// own.
const (
	droppedWord = 0
	faultWord   = 1
	countWord   = 2 // of whatever a command of the run counts
	gaugeWords  = 16
	firstGauge  = gaugeWords
)

// unlimited is the limit of what needs no room.
const unlimited = math.MaxInt64

// newGauge returns the word of another gauge.
func (c *control) newGauge() int {
	at := c.words
	c.words += gaugeWords
	c.limits = append(c.limits, at+1)
	return at
}

// start makes the block that of memory of the device: all cursors are 0 and all limits are
// open. What the memory is to have at first is in the mirror.
func (c *control) start(device buffer) {
	c.device = device
	clear(c.mirror[:c.words])
	for _, at := range c.limits {
		c.mirror[at] = unlimited
	}
	c.fresh = true
}

// at returns the address of a word.
func (c *control) at(word int) cuda.Pointer { return c.device.at + cuda.Pointer(8*word) }

// sync makes the mirror what the device has, once all that is in the stream is done.
func (c *control) sync(ctx context.Context) error {
	if c.fresh {
		return nil
	}
	if err := c.stream.CopyToHost(bytesOf(c.block[:c.words]), c.device.at); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	copy(c.mirror, c.block[:c.words])
	c.fresh = true
	return nil
}

// put sets words of the device's memory.
func (c *control) put(ctx context.Context, to cuda.Pointer, words ...int64) error {
	if c.image != nil {
		if done, err := c.image.copy(c.stream, to, bytesOf(words)); done || err != nil {
			return err
		}
	}
	return c.lane.put(ctx, to, words...)
}

// set sets words from a word on.
func (c *control) set(ctx context.Context, word int, values ...int64) error {
	copy(c.mirror[word:], values)
	if c.image != nil && len(values) == 1 && c.image.setsLimit(word) {
		return c.image.put(c.at(word), values)
	}
	return c.put(ctx, c.at(word), values...)
}

// stop makes the kernels at work leave off as soon as they look at a gauge, and waits
// until they have. It is called when the run's context is done. What is still in the
// stream may move limits back, so that it is told again.
func (c *control) stop() error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		for _, at := range c.limits {
			// The least of all limits is that with the highest bit alone.
			if err := c.urgent.Fill32(c.at(at)+4, 1<<31, 1); err != nil {
				return err
			}
		}
		if err := c.urgent.Synchronize(context.Background()); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), pause)
		err := c.wait(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}
