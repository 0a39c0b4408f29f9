package device

import (
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
)

// image is the initial contents of a captured run's small memory: its counters,
// the states of kernels, and the slab. The graph begins with one copy of the
// image. An ordinary run initialises each piece of fresh memory with a command
// of its own; a captured run writes to the image instead, in another stream.
type image struct {
	memory Buffer // the memory that the run uses
	first  Buffer // the initial contents of memory, of the same size
	stream driver.Stream
	fills  driver.Function // service.Fill
	moved  map[int]bool    // gauges that captured kernels may have read
	// constants is what later commands of the graph copy into memory. The first
	// used bytes are taken.
	constants Buffer
	used      int64
}

// constantBytes is the size of image.constants, in bytes.
const constantBytes = 64 << 10

// gatherBytes is the room that the slab of a captured run has in addition to
// that of an ordinary run, for the tables that say where results go.
const gatherBytes = 16 << 10

// OpenImage makes the image of a run whose variables are declared, and
// allocates the memory that the image initialises.
func (r *Run) OpenImage(slab int64, launches []LaunchShape) error {
	if slab > r.Memory.Room()/plenty {
		slab = 0
	}
	slab += gatherBytes
	// Ask once: the answer depends on memory that other runs take and free.
	expected := r.expects(launches)
	counters, states := padded(int64(8*r.Control.Words), arenaPart), padded(8*expected, arenaPart)
	fills := r.Services[service.Fill(0, 0, 0).Kernel]
	im := &image{stream: r.Lane.Urgent, fills: fills, moved: map[int]bool{}}
	var err error
	for _, b := range []*Buffer{&im.memory, &im.first} {
		if *b, err = r.Arena.Alloc("the state of a run", counters+states+slab); err != nil {
			return err
		}
	}
	if im.constants, err = r.Arena.Alloc("the constants of a run", constantBytes); err != nil {
		return err
	}
	var table Buffer
	if expected > 0 {
		bytes := int64(8 * service.StatesWords * len(launches))
		if table, err = r.Arena.Alloc(whatStates, bytes); err != nil {
			return err
		}
	}
	if err := r.Arena.Ready(r.Ctx); err != nil {
		return err
	}
	if err := im.stream.Fill32(im.first.At, 0, uint64(im.first.Bytes/4)); err != nil {
		return err
	}
	part := func(from, bytes int64) Buffer {
		return Buffer{im.memory.At + cuda.Pointer(from), bytes}
	}
	r.Control.Image = im
	r.Control.start(part(0, counters))
	if err := im.put(r.Control.Device.At, r.Control.Mirror[:r.Control.Words]); err != nil {
		return err
	}
	r.Slab.Buffer = part(counters+states, slab)
	if expected == 0 {
		return nil
	}
	r.States.ready, r.States.expected = part(counters, states), launches
	list := statesTable(Buffer{im.at(r.States.ready.At), states}, launches)
	if err := im.stream.CopyToDevice(table.At, BytesOf(list)); err != nil {
		return err
	}
	set := service.StatesOf(table.Word(), int64(len(launches)))
	return Launch(im.stream, r.Services[set.Kernel], set)
}

// at returns the address in the image of an address of the run's memory.
func (im *image) at(p cuda.Pointer) cuda.Pointer { return im.first.At + p - im.memory.At }

// put writes words to the image.
func (im *image) put(at cuda.Pointer, words []int64) error {
	return im.stream.CopyToDevice(im.at(at), BytesOf(words)) // stages Go's memory
}

// fill sets n words of the image to a value.
func (im *image) fill(at cuda.Pointer, n, value int64) error {
	return Launch(im.stream, im.fills, service.Fill(int64(im.at(at)), n, value))
}

// Restore enqueues the copy of the image to the run's memory.
func (im *image) Restore(s driver.Stream) error {
	return s.Copy(im.memory.At, im.first.At, uint64(im.memory.Bytes))
}

// copy adds to the graph a copy of bytes to device memory. It copies from the
// constants of the image, because a copy from the host takes several times as
// long as an empty kernel. If there is no room for the bytes, done is false.
func (im *image) copy(s driver.Stream, to cuda.Pointer, bytes []byte) (done bool, err error) {
	n := int64(len(bytes))
	if im.used+n > constantBytes {
		return false, nil
	}
	from := im.constants.At + cuda.Pointer(im.used)
	im.used += (n + alignment - 1) / alignment * alignment
	if err := im.stream.CopyToDevice(from, bytes); err != nil {
		return false, err
	}
	return true, s.Copy(to, from, uint64(n))
}

// setsLimit reports whether a word of the counters may get its new value at the
// start of the graph already. That holds for limits of gauges that no captured
// kernel has read.
func (im *image) setsLimit(word int) bool {
	gauge := word - (word-FirstGauge)%GaugeWords
	return word == gauge+1 && word > FirstGauge && !im.moved[gauge]
}

// Look records that a captured kernel reads a gauge.
func (im *image) Look(gauge int) { im.moved[gauge] = true }
