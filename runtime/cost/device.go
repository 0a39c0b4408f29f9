package cost

// Device is what the model knows of a GPU.
type Device struct {
	Name       string
	Bandwidth  float64 // of its memory, at most, in bytes a second
	L2         float64 // bytes of its second-level cache
	Processors float64 // multiprocessors
	Clock      float64 // cycles a second of these, at most
}

// H200 is the card that the rates were fitted on.
var H200 = Device{Name: "NVIDIA H200", Bandwidth: 4.8e12, L2: 60 << 20, Processors: 132,
	Clock: 1.98e9}

// Rates are the times of the parts of a kernel on a whole card, in seconds.
type Rates struct {
	Launch   float64 // of a kernel behind others in its stream
	Idle     float64 // of a kernel in a stream that waited for the host
	Ahead    float64 // what a kernel takes at least for the host to be ahead of it
	Byte     float64 // that is read or written in order
	Step     float64 // of a stage, for a row
	Scan     float64 // of a row of a tile whose threads meet
	Wait     float64 // of an access that such a tile waits for
	Append   float64 // of a tuple
	Run      float64 // of a row that is added up with equal keys
	Queue    float64 // of a row that goes through a queue
	Expanded float64 // of a row that an expansion makes
	Ordered  float64 // of an access beside the one of the row before
	Near     float64 // of an access to a table in a multiprocessor's own cache
	L2       float64 // of one to a table in the second-level cache
	Memory   float64 // of one to memory
	Atomic   float64 // of an addition in the second-level cache
	Far      float64 // of an addition in memory
	Search   float64 // of a search in a hash table, beside its access
	Shared   float64 // of an addition in shared memory
	Table    float64 // of a byte of a block's own groups
	Merge    float64 // of a cell of these that is added to those of all blocks
}

// fitted are the rates of an H200. Those of accesses to memory, of additions,
// and of bytes in order are within a tenth of what such accesses alone take.
var fitted = Rates{
	Launch: 5.1e-6, Idle: 13e-6, Ahead: 50e-6,
	Byte: 0.25e-12, Step: 0.13e-12, Scan: 2.8e-12, Wait: 1.05e-9, Append: 2.7e-12, Run: 1.7e-12,
	Queue: 10.8e-12, Expanded: 35e-12,
	Ordered: 2.1e-12, Near: 0.4e-12, L2: 5.2e-12, Memory: 26e-12,
	Atomic: 12e-12, Far: 60e-12, Search: 25e-12,
	Shared: 0.033e-12, Table: 0.27e-9, Merge: 33e-9,
}

// near and cached are the sizes of the tables that stay in the cache of a
// multiprocessor, and the part of the second-level cache that tables get.
const (
	near   = 200 << 10
	cached = 0.75
)

// Rates returns the rates of a device: those of an H200, scaled by what the
// driver says of both.
func (d Device) Rates() Rates {
	r := fitted
	memory, cores := 1.0, 1.0
	if d.Bandwidth > 0 {
		memory = H200.Bandwidth / d.Bandwidth
	}
	if d.Processors > 0 && d.Clock > 0 {
		cores = H200.Processors * H200.Clock / (d.Processors * d.Clock)
	}
	for _, x := range []*float64{&r.Byte, &r.Memory, &r.Far} {
		*x *= memory
	}
	for _, x := range []*float64{&r.Step, &r.Scan, &r.Wait, &r.Append, &r.Run, &r.Queue,
		&r.Expanded, &r.Ordered, &r.Near, &r.L2, &r.Atomic, &r.Search, &r.Shared} {
		*x *= cores
	}
	return r
}
