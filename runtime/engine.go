package runtime

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// The names of engines, as --engine takes them.
const (
	Go    = "go"
	CPU   = "cpu"
	GPU   = "gpu"
	Mixed = "mixed"
)

// Engine runs plans. All engines give the same sets of tuples. An engine is
// safe for concurrent runs.
type Engine interface {
	// Name is Go, CPU, GPU or Mixed.
	Name() string
	// Run evaluates the plan over the facts. It stops soon after ctx is done,
	// and then returns ctx's cause; an answer is never partial.
	Run(ctx context.Context, req *Request) (*Answer, error)
}

// Request is one run.
type Request struct {
	Plan *queryplan.Plan
	// relations for the plan's Input and Table variables; missing ones are
	// empty
	Facts *store.Database
	// Threads is the number of worker threads; 0 means all cores.
	Threads int
	// Memory bounds, in bytes, what the run allocates for relations and
	// indexes, the facts not counted; 0 means no bound.
	Memory int64
	// MaxRounds bounds the rounds of each unbounded loop (queryplan.Branch): 0
	// means the default bound, and a negative number none. RoundsBound resolves
	// it.
	MaxRounds int64
	// NoDecompose says that every loop goes round by round over all of its
	// tuples, also where a column decomposes it. The answer is the same.
	NoDecompose bool
	// NoTiers keeps an engine from running parts of the plan on another one.
	// The answer is the same.
	NoTiers bool
	// Often says that the plan runs so often that making code for all of it is
	// worth its time.
	Often bool
	// Adaptive lets an engine of native code begin on a simpler one, and go on
	// as native code once that is worth it. The answer is the same.
	Adaptive bool
	// MaxViolations bounds the tuples kept of each violated constraint.
	MaxViolations int
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(Progress)
	// Round, if set, is called before each round of a loop of one block, also
	// before the first. If it returns true, the run ends there: the answer has
	// no outputs, and the caller has taken what it wants of the loop. Only the
	// go engine calls it.
	Round func(Round) (leave bool)
	// Orders, if set, returns what chooses the orders of joins of a plan again
	// once relations that a loop reads have grown. It is called with the plan,
	// or that of a part of it. Orders differ in speed, never in the answer.
	Orders func(p *queryplan.Plan) Orders
	// NoDeviceLoops has the host lead every round of a loop on a device.
	NoDeviceLoops bool
	// NoBitJoins has every join of a CPU go through rows.
	NoBitJoins bool
	// NoPackedColumns has a device keep columns of facts as the host does, in
	// whole bytes a value.
	NoPackedColumns bool
	// NoKeptIndexes has a run make indexes over facts and values of functions
	// of strings that earlier runs over the same facts have left, and leave
	// none.
	NoKeptIndexes bool
	// Profile asks for the times and rows of each command.
	Profile bool
	// Trace, if set, is told what took how long. It is safe for concurrent use.
	Trace func(Span)
	// Resident lets an engine leave outputs where it has computed them; the
	// answer has them in Pending.
	Resident bool
	// Rounds asks for Answer.Rounds. The go engine has them, by itself and in
	// runs that spill.
	Rounds bool
}

// Preparer is an engine that can make ready what a run needs beside the memory
// of what it derives.
type Preparer interface {
	Engine
	// Prepare makes the code for a request and, on a device, copies its facts
	// there. Later runs of the same plan over the same facts, by their
	// pointers, find both.
	Prepare(ctx context.Context, req *Request) error
}

// Compiler is an engine whose code can be made before a run needs it.
type Compiler interface {
	Engine
	// Find reports whether the code for a request was made before. A later run
	// of the plan then has it at hand.
	Find(ctx context.Context, req *Request) (bool, error)
	// Compile makes the code for a request on so many cores. The facts need not
	// be all there: a run can have others of the same layout.
	Compile(ctx context.Context, req *Request, cores int) error
}

// Prefetcher is an engine of a device with memory of its own, which can have
// facts there before a run asks for them.
type Prefetcher interface {
	Engine
	// Prefetch copies a column, called by a name in the trace, unless there is
	// no room but in the place of what is there. The copy stays until the
	// column is garbage or its memory is wanted. Whole is for runs with
	// NoPackedColumns.
	Prefetch(ctx context.Context, name string, c *store.Column, whole bool,
		trace func(Span)) error
	// Drop gives back the copy of a column, once no run uses it.
	Drop(c *store.Column)
}

// Traced tells, if that is asked for, what took from a time to another.
func (r *Request) Traced(track, name string, start, end time.Time) {
	if r.Trace != nil {
		r.Trace(Span{Track: track, Name: name, Start: start, Duration: end.Sub(start)})
	}
}

// Span is something that took time.
type Span = trace.Span

// Progress is where a run is.
type Progress struct {
	Block     string
	Iteration int      // rounds of the block's loop so far
	Vars      []string // what the block fills
	New       int64    // tuples of the last round
	Total     int64    // tuples of these variables
}

// Round is a loop before one of its rounds.
type Round struct {
	Block  string
	Number int64 // rounds that it has taken
	Total  int64 // tuples of what it fills
	// Dropped is that of the answer so far.
	Dropped int64
	// Copy returns relations of parts of variables, nil if they cannot be
	// copied: tuples wait for a merge, or strings are still being computed. The
	// columns have the bounds that hold for all rounds.
	Copy func(how Copying, parts []Part) []*store.Relation
}

// Part is a version of a variable of the plan, for a relation of a name.
type Part struct {
	Var      string
	Version  queryplan.Version
	Relation string
}

// Copying says what Round.Copy does.
type Copying uint8

const (
	// Bounds makes relations without tuples, whose columns have bounds.
	Bounds Copying = iota
	// Tuples copies the tuples.
	Tuples
	// Take is Tuples and gives the memory of the variables back. The caller
	// leaves the run.
	Take
)

// Answer is what a run yields.
type Answer struct {
	// Outputs has the contents of the plan's output variables by name, in no
	// order.
	Outputs map[string]*store.Relation
	// Pending has those outputs that a resident run has left on the device, by
	// name; they are not in Outputs. Whoever gets the answer fetches or
	// releases each. An answer with violations has none.
	Pending map[string]Pending
	// Rounds tells, by name, in which round of its loop each tuple of an output
	// was found: the tuples are in the order of the rounds. An output that no
	// loop fills has none.
	Rounds map[string]Rounds
	// Violations are the integrity constraints that do not hold.
	Violations []Violation
	// Dropped counts the decimals that did not fit their type, so that their
	// atom was false.
	Dropped int64
	// Peak is the largest number of bytes held for relations and indexes.
	Peak    int64
	Profile []CommandProfile
	// Kernels is the profile of an engine that runs kernels, in the order of
	// the kernel graph.
	Kernels []KernelProfile
	// Segments are the parts of a run that several engines shared, in order.
	Segments []SegmentProfile
	// Reordered are the rules whose joins a run has brought into another order,
	// in the order of the rounds.
	Reordered []Reordering
	// Compile is what making the code took, up to what the machine executes; 0
	// when it was at hand.
	Compile time.Duration
	// Device is what the run did on a device; nil if there is none. What takes
	// measuring is there if a profile was asked for.
	Device *DeviceProfile
	// Spill is what the run kept in a file; nil if it fit its memory.
	Spill *SpillProfile
	// Cache is what the GPU of a mixed run holds; nil for other engines.
	Cache *CacheProfile
}

// CacheProfile says which columns of facts a GPU is to hold for later runs of
// the mixed engine.
type CacheProfile struct {
	Bytes, Budget int64
	Columns       []CachedColumn
}

// CachedColumn is a column of facts whose first rows a GPU holds.
type CachedColumn struct {
	Of, Name  string // of the table and of the column
	Rows, All int64
	Bytes     int64 // of Rows
}

// Pending is an output that lies on the device of the engine. It is safe for
// concurrent use.
type Pending interface {
	// Rows is the number of its tuples.
	Rows() int64
	// Fetch copies the tuples to the host, in no order, and gives the device's
	// memory back, unless it fails. It is not called again after it has
	// succeeded.
	Fetch(ctx context.Context) (*store.Relation, error)
	// Release gives the device's memory back without copying. Calling it again,
	// or after Fetch, does nothing.
	Release()
}

// DeviceProfile says what a run cost on a device, beside its kernels.
type DeviceProfile struct {
	Name      string  // of the device
	Bandwidth float64 // of its memory, at most, in bytes a second
	// L2 is the size of its second-level cache in bytes, Clock that of its
	// multiprocessors, at most, in cycles a second.
	L2, Multiprocessors int
	Clock               float64
	Peak                int64 // most bytes of its memory that the run held, its facts among them
	// Load is the part of Answer.Compile that the driver took, to make machine
	// code and load it.
	Load       time.Duration
	ToDevice   Transfer
	FromDevice Transfer
	// Ahead are the bytes of columns that the run sent while its code was made.
	// ToDevice leaves them out, because nothing measures their time.
	Ahead    int64
	Resident int64 // bytes of columns of facts that the run found on the device
	Packed   Packed
	Launches int64 // of kernels
	Waits    int64 // of the host for the device
	Enlarged int64 // tables that were full or were about to be
	// Replayed counts the times that the run took counters from the record of
	// an earlier run and did not wait.
	Replayed int64
	Origin   Origin
	Rounds   int64 // of loops, that the device ran by itself
	Donated  int64 // parts of a block's work that others took over; if timed
	// Nodes is how many commands the graph has that was launched in place of
	// them, one by one, because the run repeats an earlier one; 0 if there was
	// none.
	Nodes int64
}

// Packed are the columns of facts that a run read in packed form.
type Packed struct {
	Columns int64
	Bytes   int64
	Whole   int64 // bytes of these columns as the host has them
}

// Add adds what a further run did on the same device.
func (p *DeviceProfile) Add(q *DeviceProfile) {
	p.Name, p.Bandwidth, p.Peak = q.Name, q.Bandwidth, max(p.Peak, q.Peak)
	p.L2, p.Multiprocessors, p.Clock = q.L2, q.Multiprocessors, q.Clock
	p.Load += q.Load
	p.ToDevice.add(q.ToDevice)
	p.FromDevice.add(q.FromDevice)
	p.Ahead += q.Ahead
	p.Resident += q.Resident
	p.Packed.Columns += q.Packed.Columns
	p.Packed.Bytes += q.Packed.Bytes
	p.Packed.Whole += q.Packed.Whole
	p.Launches += q.Launches
	p.Waits += q.Waits
	p.Enlarged += q.Enlarged
	p.Replayed += q.Replayed
	p.Rounds += q.Rounds
	p.Donated += q.Donated
}

// Origin says from where a run on a device knows how large its tables become.
type Origin uint8

const (
	// NoRun is the origin of a run that has estimates alone.
	NoRun Origin = iota
	// OtherFacts is that of a run that follows runs over other facts.
	OtherFacts
	// EarlierRun is that of a run that follows another of its process, over the
	// same facts.
	EarlierRun
	// EarlierProcess is that of a run over the facts of an earlier process.
	EarlierProcess
)

// Transfer is what was copied between host and device.
type Transfer struct {
	Bytes int64
	Time  time.Duration // by the device's events
}

func (t *Transfer) add(u Transfer) {
	t.Bytes += u.Bytes
	t.Time += u.Time
}

// Violation is a constraint that does not hold.
type Violation struct {
	Check  *queryplan.Check
	Count  int64 // violating bindings
	Cols   []queryplan.Column
	Tuples [][]scalar.Value // the first ones in sorted order
}

// CommandProfile says what one command of a plan cost.
type CommandProfile struct {
	Block   string
	Command int // index in the block
	Calls   int64
	Rows    int64 // tuples it produced, before duplicates were removed
	Kept    int64 // tuples that were new
	ByBits  bool  // whether a join of the go engine went by bits
	Time    time.Duration
	// Device is the time of its kernels by the device's events; 0 if there is
	// no device.
	Device time.Duration
}

// KernelProfile says what one kernel of the kernel graph cost.
type KernelProfile struct {
	Kernel string // its name in the graph
	// Rules are the rules and constraints that it serves, as file:line, in the
	// order of its work.
	Rules []string
	Block string // of the graph and the plan, where it runs
	Calls int64
	Rows  int64 // of its source
	Kept  int64 // tuples that it stored, or inserted and that were new
	// Bytes are those of the columns that it loads from its source and of the
	// tuples that it adds to relations. What it looks up by key is not counted:
	// that depends on caches.
	Bytes int64
	Time  time.Duration
	// Device is the time by the device's events; 0 if there is no device.
	Device time.Duration
	// ByBits says that a call of it joined sets of bits
	// (primitives/src/bitrows.h).
	ByBits bool
}

// SegmentProfile says what a part of a run cost, which one engine did.
type SegmentProfile struct {
	Engine   string
	Commands int // of the plan
	// Fills are the predicates that it added tuples to, in the order of the
	// plan.
	Fills   []string
	Compile time.Duration
	Run     time.Duration
	// Loop is the block of the loop with which it began or which it left, after
	// so many Rounds; "" if there is none.
	Loop   string
	Rounds int64
	// Of is the name of the table of which the segment read only the rows
	// [From, Until). It is empty if the segment read all rows.
	Of          string
	From, Until int64
	// Batches is into how many batches of rows these were divided, one after
	// the other; 0 if they were not.
	Batches int64
	// Left says that it left the loop, and that the next segment goes on.
	Left bool
	// Dropped says that the engine was stopped because the segment turned out
	// to be worth native code. The segments behind it have its commands.
	Dropped bool
	// Failed is why a GPU could not finish the segment, for example because its
	// memory was full; "" if it has finished. The next segment has its commands
	// and its tuples.
	Failed string
}

// KeyError is a functional predicate that got two values for one key.
type KeyError struct {
	Var           *queryplan.Var
	Span          source.Span // of the rule or declaration that is checked
	First, Second []scalar.Value
}

// Error describes the conflict.
func (e *KeyError) Error() string {
	return fmt.Sprintf("functional predicate %s has two values for one key: %s and %s",
		e.Var.Name, tuple(e.First), tuple(e.Second))
}

// OverflowError is a total that does not fit its type.
type OverflowError struct {
	Fn    queryplan.AggFn
	Out   queryplan.Column
	By    []queryplan.Column
	Group []scalar.Value
	Span  source.Span
}

// Error names the group.
func (e *OverflowError) Error() string {
	where := ""
	if len(e.By) > 0 {
		where = " for " + tuple(e.Group)
	}
	return fmt.Sprintf("%s%s does not fit %s", e.Fn, where, e.Out.Type.Joined())
}

// RoundsError is an unbounded loop that goes on after as many rounds as a
// request allows. All engines fail after the same round.
type RoundsError struct {
	Loop   *queryplan.Branch
	Rounds int64
	// Tuples is the number of tuples that the loop has derived; 0 if the engine
	// does not know it.
	Tuples int64
}

// Error names the relations that the loop fills.
func (e *RoundsError) Error() string {
	names := make([]string, len(e.Loop.Vars))
	for i, v := range e.Loop.Vars {
		names[i] = v.Name
	}
	return fmt.Sprintf("the recursion of %s goes on after %d rounds", strings.Join(names, ", "),
		e.Rounds)
}

// MemoryError is a run that would pass its memory bound.
type MemoryError struct {
	What              string // the relation or index that wanted to grow, in the user's names
	Want, Held, Bound int64  // bytes
	Device            bool   // it is the memory of a GPU
	Loading           bool   // the facts grew, What among them
	// System, if set, is why the operating system gives no more memory; Bound
	// is then 0.
	System error
}

// Error says what wanted how much and what to try.
func (e *MemoryError) Error() string {
	needs := fmt.Sprintf("%s needs %s more", e.What, Size(e.Want))
	switch {
	case e.System != nil:
		return fmt.Sprintf("out of memory: %s, and the operating system refuses it after %s (%v); free memory or raise the limit of the process (ulimit -v)",
			needs, Size(e.Held), e.System)
	case e.Device:
		return fmt.Sprintf("out of memory of the GPU: %s, and %s of %s are in use; raise --device-memory, use --engine cpu, or derive fewer tuples",
			needs, Size(e.Held), Size(e.Bound))
	}
	do := "derive fewer tuples"
	if e.Loading {
		do = "load fewer facts"
	}
	return fmt.Sprintf("out of memory: %s, and %s of the %s of --memory are in use; raise --memory or %s",
		needs, Size(e.Held), Size(e.Bound), do)
}

// Size renders a number of bytes: whole units as they are, others to a tenth.
func Size(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		one := int64(1) << (40 - 10*i)
		switch {
		case n < one:
		case n%one == 0:
			return fmt.Sprintf("%d %s", n/one, unit)
		case n%(1<<20) != 0 || n >= 10_000<<20:
			return fmt.Sprintf("%.1f %s", float64(n)/float64(one), unit)
		}
	}
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// DeviceError is a device that cannot do what a run asks of it.
type DeviceError struct {
	Message       string // what failed
	Needed, Found string // may be empty
	Try           string // what to do
	Err           error
}

// Error says what was needed, what was found and what to try.
func (e *DeviceError) Error() string {
	s := e.Message
	if e.Needed != "" {
		s += fmt.Sprintf(" (needs %s, found %s)", e.Needed, e.Found)
	}
	if e.Try != "" {
		s += "; " + e.Try
	}
	return s
}

// Unwrap returns the driver's error.
func (e *DeviceError) Unwrap() error { return e.Err }

func tuple(values []scalar.Value) string {
	s := "("
	for i, v := range scalar.JoinedRow(values) {
		if i > 0 {
			s += ", "
		}
		s += scalar.Format(v)
	}
	return s + ")"
}
