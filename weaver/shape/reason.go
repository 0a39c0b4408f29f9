package shape

// Reason is why a function's tile differs from the target's. The list is
// closed; Reasons has it.
type Reason struct {
	Name string // one word, unique
	Doc  string // a clause that holds for every function that has the reason
}

// The reasons.
var (
	Budget = &Reason{
		"budget",
		"values of more rows would exceed the registers or the scratch memory of a thread's share",
	}
	AnyFacts = &Reason{
		"any_facts",
		"nothing is known of the facts, so the code for each width and form is long",
	}
	Build    = &Reason{"build", "an index build waits for atomics, not for instructions"}
	OfGroups = &Reason{"of_groups", "the results of groups take long code and are seldom many"}
	Expands  = &Reason{
		"expands",
		"a kernel that expands rows waits for random accesses and wants many threads",
	}
	Searches = &Reason{
		"searches",
		"a hash table is searched, for which more warps do as well as more rows a thread",
	}
	Spills  = &Reason{"spills", "a block may meet groups that its own table has no place for"}
	Holds   = &Reason{"long_tuples", "the tuples of more rows would not fit the registers"}
	Lean    = &Reason{"lean", "a row needs few registers, so more threads may run"}
	Drops   = &Reason{"drops", "most rows are expected to be dropped before the queue"}
	LooksUp = &Reason{
		"looks_up",
		"rows are looked up ahead of the queue, in memory that the queue shares with the cache",
	}
	Runs = &Reason{
		"runs",
		"blocks meet in the runs of equal keys at the ends of tiles, so few large tiles are best",
	}
	Large = &Reason{
		"large_table",
		"a table for all groups leaves room for few blocks, which get more threads",
	}
	Parts = &Reason{
		"parts",
		"rows without a place in the block's table take long, so a block looks at the gauges seldom",
	}
	LeastRoom = &Reason{"memory", "a larger tile exceeds the memory of a block, or the stack"}
)

// Reasons lists all reasons.
func Reasons() []*Reason {
	return []*Reason{
		Budget,
		AnyFacts,
		Build,
		OfGroups,
		Expands,
		Searches,
		Spills,
		Holds,
		Lean,
		Drops,
		LooksUp,
		Runs,
		Large,
		Parts,
		LeastRoom,
	}
}
