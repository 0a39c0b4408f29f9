package fuse

// Dependence is what a consumer needs of a producer. It determines the memory
// through which values pass in the fused kernel (Wu et al., Kernel Weaver,
// MICRO 2012).
type Dependence uint8

// The dependences, from the cheapest on.
const (
	// Thread needs the row that the same thread has made, so values pass in
	// registers. Loads, maps, filters, gathers and probes with at most one
	// match have it.
	Thread Dependence = iota
	// CTA needs rows that the same block has made, so values pass in registers,
	// and in scratch memory of the block if a probe of a multi index makes
	// several rows of one.
	CTA
	// Kernel needs all rows of the producer, so values pass in device memory.
	Kernel
	// Input is not a dependence: both read the same rows.
	Input
)

// String returns "thread", "cta", "kernel" or "input".
func (d Dependence) String() string { return [...]string{"thread", "cta", "kernel", "input"}[d] }

// Reason is why two kernels are not fused. The list is closed; Reasons returns
// it.
type Reason struct {
	Name string // one word or two, unique
	Doc  string // a sentence that holds for every pair that it is said of
}

// The reasons that a kernel dependence gives.
var (
	// Index is a consumer that probes.
	Index = &Reason{"index", "an index is complete before anything probes it"}
	// Order is a consumer or producer that numbers or ranks.
	Order = &Reason{"order", "numbering and ranking compare all rows with each other"}
	// Grouping is a consumer of groups.
	Grouping = &Reason{"grouping", "a group has its result only after the last row"}
	// Round is a consumer of a derived relation.
	Round = &Reason{"round",
		"a derived relation shows new tuples only after a merge has ended the round"}
	// Host is a pair in which one kernel has no code for the target.
	Host = &Reason{"host", "the host evaluates one of the two, and takes and gives whole relations"}
	// Check is a constraint's check.
	Check = &Reason{"check",
		"the tuples that violate a constraint are reported, so they have to be stored"}
	// OtherBlock is a producer and a consumer that do not run one after the
	// other.
	OtherBlock = &Reason{"other block",
		"the variable is written in one block and read in another, or before it is written"}
	// Accumulates is a temporary that keeps rows for longer than one run of its
	// block.
	Accumulates = &Reason{"accumulates",
		"the variable may hold other rows than those that the producers store before the consumer"}
	// Between is a command that cannot be passed.
	Between = &Reason{"between",
		"a command between the two changes what one of them reads or reads what it writes"}
)

// The reasons that are a choice.
var (
	// SwitchedOff is a pair of Options.Keep, or Options.Off.
	SwitchedOff = &Reason{"switched off", "fusion of the pair is switched off"}
	// Budgeted is a kernel whose estimate exceeds the budget.
	Budgeted = &Reason{"budget", "the kernel would exceed the budget of its target"}
	// Recompute is a producer that several consumers would repeat.
	Recompute = &Reason{"recompute",
		"several consumers would repeat the producer's work, which costs more than its stored result, has no bound, or would give other values"}
	// StaysStored is a variable that another consumer needs.
	StaysStored = &Reason{"stays stored",
		"another consumer needs the variable, so that this one, which drops or expands rows, would repeat the producer's work"}
	// OtherSink is a producer with more sinks.
	OtherSink = &Reason{"other sink",
		"the producer has another sink, which must get the rows that the consumer drops or expands"}
	// Itself is a kernel that would not be free of side effects.
	Itself = &Reason{"itself", "the kernel would read a variable that it fills"}
	// OtherProducer is a variable that stays for the rows of another producer.
	OtherProducer = &Reason{"other producer",
		"of the variable's several producers another one cannot be fused with the consumer"}
	// DifferentRows is a pair that reads the same rows but keeps different
	// ones.
	DifferentRows = &Reason{"different rows",
		"all sinks of a kernel get the same rows, and these two keep different ones of the same source"}
	// NothingShared is a pair that reads other columns of the same rows.
	NothingShared = &Reason{"nothing shared",
		"the two read different columns of the same rows, so that no value would be read once instead of twice"}
	// FirstAnswer is a pair of a large program, and too large a kernel.
	FirstAnswer = &Reason{"first answer",
		"kernels of a large program compile side by side, so the largest one bounds the time until the first answer"}
)

// Reasons lists all reasons.
func Reasons() []*Reason {
	return []*Reason{Index, Order, Grouping, Round, Host, Check, OtherBlock, Accumulates, Between,
		SwitchedOff, Budgeted, Recompute, StaysStored, OtherSink, Itself, OtherProducer,
		DifferentRows, NothingShared, FirstAnswer}
}
