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
	Launch  float64 // of a kernel behind others in its stream
	Idle    float64 // of a kernel in a stream that waits for the host
	Enqueue float64 // of the host for a kernel
	Build   float64 // of the host for the build of an index

	Byte  float64 // that is read or written in order
	Fresh float64 // that is read in order and in the second-level cache
	Step  float64 // of a stage, for a row

	Scan     float64 // of a row of a tile whose threads meet
	Wait     float64 // of an access that such a tile waits for
	Append   float64 // of a tuple
	Run      float64 // of a row that is added up with equal keys
	Queue    float64 // of a row that goes through a queue
	Expanded float64 // of a row that an expansion makes

	Ordered float64 // of an access beside the one of the row before
	Near    float64 // of an access to a table in a multiprocessor's own cache
	L2      float64 // of one to a table in the second-level cache
	Memory  float64 // of one to memory
	Atomic  float64 // of an addition in the second-level cache
	Far     float64 // of an addition in memory
	Search  float64 // of a search in a hash table, beside its access

	Shared float64 // of an addition in shared memory
	Table  float64 // of a byte of a block's own groups
	Merge  float64 // of a cell of these that is added to those of all blocks

	// Latencies count once for a kernel.
	Drain  float64 // of a queue, until its last rows are through
	Divide float64 // of decimals that are divided in 128 bits
	List   float64 // of groups in order, whose borders are joined
	Set    float64 // of a hash table that finds duplicates
}

// fitted are the rates of an H200 (driver 580): medians of five hot runs of the
// 180 kernels of TPC-H and SSB at scale factor 10, on 2026-11-29. Those of
// accesses to memory and of additions agree with what such accesses take alone.
var fitted = Rates{
	Launch: 5.5e-6, Idle: 9.4e-6, Enqueue: 11e-6, Build: 5.3e-6,
	Byte: 0.25e-12, Fresh: 0.062e-12, Step: 0.12e-12,
	Scan: 3.2e-12, Wait: 0.38e-9, Append: 1.3e-12, Run: 1.1e-12, Queue: 5e-12, Expanded: 83e-12,
	Ordered: 1.9e-12, Near: 1e-12, L2: 4.6e-12, Memory: 28e-12,
	Atomic: 12e-12, Far: 62e-12, Search: 27e-12,
	Shared: 0.053e-12, Table: 0.52e-9, Merge: 27e-9,
	Drain: 4.7e-6, Divide: 5.4e-6, List: 7.6e-6, Set: 5.7e-6,
}

// near and cached are the sizes of the tables that stay in the cache of a
// multiprocessor, and the part of the second-level cache that tables get.
const (
	near   = 200 << 10
	cached = 0.75
)

// drained is the number of rows from which on a queue takes all of Drain.
const drained = 8 * 2048

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
	for _, x := range []*float64{&r.Fresh, &r.Step, &r.Scan, &r.Wait, &r.Append, &r.Run, &r.Queue,
		&r.Expanded, &r.Ordered, &r.Near, &r.L2, &r.Atomic, &r.Search, &r.Shared} {
		*x *= cores
	}
	return r
}
