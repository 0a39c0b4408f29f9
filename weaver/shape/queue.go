package shape

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Queue cuts a function in two. The stages ahead of it push the numbers of the
// rows that they leave; those behind it take as many rows as all threads work
// on, and read or find again what they need of a row.
type Queue struct {
	Before int // the stage, in the order of work, that is the first behind the queue
	// Behind is the work on rows of the queue, Items of a thread at a
	// time.
	Behind  *Work
	Items   int
	ByWarps bool    // each warp has a queue of its own
	Left    float64 // the share of the source's rows that is expected to reach the sinks
}

const (
	// filteredItems are the rows that a thread has ahead of a queue, and
	// probedItems if rows are looked up there. The 256 KB of a multiprocessor's
	// cache are also its shared memory: tables that are looked up compete with
	// the queues of all blocks.
	filteredItems = 8
	probedItems   = 4
	// behindItems are the rows that a thread has behind a queue, and hostItems
	// a CPU's.
	behindItems = 1
	hostItems   = 32
)

// Mates is how many threads share a queue.
func (q *Queue) Mates(f *Function) int {
	if q.ByWarps {
		return 32
	}
	return f.Threads
}

// Rows is the room of all queues of a block.
func (q *Queue) Rows(f *Function) int { return f.Threads * (f.Items + q.Items) }

// The cost of a row in picoseconds, on an H200 whose multiprocessors all work
// on such rows. Instructions and sequential reads cost all rows of a tile,
// random accesses the live ones.
const (
	stepCost   = 0.15 // of a stage: some instructions
	byteCost   = 0.22 // of a column that is read in order
	probeCost  = 1.0  // of the instructions of a probe or a gather
	randomCost = 10.0 // of its access to a table in the second-level cache
	bitCost    = 2.0  // of one to a bit set in a multiprocessor's own cache
	rowCost    = 27.0 // of an access to a column by a row's number
	groupCost  = 2.0  // of the instructions that add to the cells of a group
	searchCost = 3.0  // of those that search for it
	cellCost   = 10.0 // of the atomics
	pushCost   = 0.5  // of the instructions that push a tile's rows
	takeCost   = 5.0  // of a row that is pushed and taken
	// gatherLoss is the factor by which a column takes longer if it is read by
	// row numbers and most of its sectors have such a row.
	gatherLoss = 2.5
	// mostSharePushed is the share of the rows above which a queue gains
	// nothing.
	mostSharePushed = 0.5
	// leastGain bounds the cost with a queue, as a share of the cost without
	// one. The estimate is rough, and the kernel's code is longer.
	leastGain = 0.9
	// loadShare is the share of rows above which a column is read for the whole
	// tile, at once with others: a sector of memory has up to 32 rows.
	loadShare = 0.1
)

// chooseQueue puts a queue into a kernel if that is expected to save much. It
// returns the rows that a thread then has ahead of it.
func (p *Program) chooseQueue(f *Function) (items int) {
	if !p.Options.Cut && (!p.Options.Target.GPU || !f.knowsFacts()) || f.Role != abi.Kernel {
		return 0
	}
	stages := f.Work.Stages
	shares := p.shares.of(stages)
	cut := f.chooseCut(shares)
	if cut == 0 {
		return 0
	}
	items = filteredItems
	if slices.ContainsFunc(stages[:cut], isRandom) {
		items = probedItems
	}
	p.putQueue(f, cut, shares[len(stages)])
	return items
}

// putQueue cuts the work of a function in two before a stage. Left is
// Queue.Left.
func (p *Program) putQueue(f *Function, cut int, left float64) {
	stages := f.Work.Stages
	q := &Queue{
		Before:  cut,
		Items:   behindItems,
		ByWarps: f.options.Target.GPU && f.isByWarps(),
		Left:    left,
	}
	if !f.options.Target.GPU {
		q.Items = hostItems
	}
	q.Behind = f.newWork(f.behind(cut), f.kept)
	f.Work = f.newWork(ahead(stages[:cut], p.shares.of(stages[:cut])), nil)
	f.Queue = q
}

// isByWarps reports whether each warp may have a queue of its own. Appending to
// a relation and entering tuples into row sets needs all threads of a block.
func (f *Function) isByWarps() bool {
	for _, s := range f.Kernel.Sinks {
		if g, ok := s.(*harmony.Group); !ok || f.MayBeWide(GroupKey, g.To.Name, len(g.Key)) {
			return false
		}
	}
	return true
}

// ahead returns the stages ahead of a queue. The loads that more than a few
// rows reach come first, so that all are begun together.
func ahead(stages []harmony.Stage, shares []float64) []harmony.Stage {
	var first, rest []harmony.Stage
	for i, s := range stages {
		if _, ok := s.(*harmony.Load); ok && shares[i] >= loadShare {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(first, rest...)
}

// behind returns the stages behind a queue that is put before stage cut, after
// those that find again what is needed of the stages ahead of it. Those that
// drop rows find none to drop.
func (f *Function) behind(cut int) []harmony.Stage {
	stages := f.Work.Stages
	needed := map[*harmony.Reg]bool{}
	for _, r := range f.kept {
		needed[r] = true
	}
	for _, s := range stages[cut:] {
		for _, r := range harmony.Uses(s) {
			needed[r] = true
		}
	}
	var again []harmony.Stage
	for i := cut - 1; i >= 0; i-- {
		s := stages[i]
		r := harmony.Def(s)
		if n, ok := s.(*harmony.Need); ok {
			r = n.Reg
		}
		if !needed[r] {
			continue
		}
		again = append(again, s)
		for _, r := range harmony.Uses(s) {
			needed[r] = true
		}
	}
	slices.Reverse(again)
	return append(again, stages[cut:]...)
}

// chooseCut returns the stage before which a queue is expected to save most, 0
// if none saves much. A queue saves where few rows are left and much is to be
// done for them. Shares are those of the rows that are left before each stage.
func (f *Function) chooseCut(shares []float64) int {
	stages := f.Work.Stages
	if !f.canQueue() {
		return 0
	}
	if f.options.Cut {
		return 1 + slices.IndexFunc(stages, mayDrop)
	}
	none := f.cost(stages, shares, 1) + f.sinkCost(shares[len(stages)])
	best, least := 0, none
	for cut := 1; cut <= len(stages); cut++ {
		share := shares[cut]
		// The share of the last of several filters in a row counts.
		if !mayDrop(stages[cut-1]) || cut < len(stages) && IsDrop(stages[cut]) ||
			share > mostSharePushed {
			continue
		}
		behind := f.behind(cut)
		alone := make([]float64, len(behind)+1) // shares of the rows in the queue
		again := len(behind) - len(stages[cut:])
		for i := range alone {
			if alone[i] = 1; i >= again {
				alone[i] = shares[cut+i-again] / share
			}
		}
		cost := f.cost(stages[:cut], shares, 1) + pushCost +
			share*(takeCost+f.cost(behind, alone, share)+f.sinkCost(alone[len(behind)]))
		if cost < least && cost < leastGain*none {
			best, least = cut, cost
		}
	}
	return best
}

// canQueue reports whether a queue may cut the kernel. A row must be found
// again by its number, so the source is a relation, no stage expands rows, and
// functions give the same value twice. Rows change places, so nothing may
// depend on their order.
func (f *Function) canQueue() bool {
	rows, ok := f.Kernel.Source.(*harmony.Rows)
	if !ok || rows.Version != harmony.Full {
		return false
	}
	for _, s := range f.Kernel.Stages {
		m, ok := s.(*harmony.Map)
		if IsExpansion(s) || ok && (m.Func.Volatile || f.IsHost(m)) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Kernel.Sinks, func(s harmony.Sink) bool {
		g, ok := s.(*harmony.Group)
		return ok && f.IsOrdered(g.To)
	})
}

// mayDrop reports whether a stage may drop rows.
func mayDrop(s harmony.Stage) bool {
	_, probes := s.(*harmony.Probe)
	return probes || IsDrop(s)
}

// isRandom reports whether a stage reads memory at random.
func isRandom(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Probe, *harmony.Gather:
		return true
	}
	return false
}

// cost is the cost of stages for a row of a tile. Shares are those of the rows
// that are left before each stage. Dense is the share of the source's rows that
// the tile has; a tile with less than all reads them by their numbers.
func (f *Function) cost(stages []harmony.Stage, shares []float64, dense float64) float64 {
	rel := f.Kernel.Source.(*harmony.Rows).Rel
	sum := 0.0
	for i, s := range stages {
		sum += stepCost
		switch s := s.(type) {
		case *harmony.Load:
			if f.Kernel.PositionOf(s) != nil {
				continue
			}
			width, known := f.Fixed(abi.ColumnWidth, rel.Name, s.Col)
			if !known {
				width = 8
			}
			bytes := float64(width)
			if bits := abi.PackedBits(width); bits > 0 {
				bytes = float64(bits) / 8
			}
			if inOrder := byteCost * bytes; dense == 1 {
				sum += inOrder
			} else {
				sum += shares[i] * min(rowCost, gatherLoss*inOrder/dense)
			}
		case *harmony.Probe:
			access := randomCost
			if f.isBitmap(s.Index) {
				access = bitCost
			}
			sum += probeCost + access*shares[i]
		case *harmony.Gather:
			sum += probeCost + randomCost*shares[i]
		}
	}
	return sum
}

// isBitmap reports whether an index is a bit set that fits a multiprocessor's
// own cache.
func (f *Function) isBitmap(x *harmony.Index) bool {
	const most = 20 // bits of its keys
	if x.Kind != harmony.Exists {
		return false
	}
	bits, ok := f.numbers(IndexKey, x.Name, len(x.Key))
	return ok && bits <= most
}

// sinkCost is the cost of the sinks for a row of a tile of which a share is
// left.
func (f *Function) sinkCost(share float64) float64 {
	sum := 0.0
	for _, s := range f.Kernel.Sinks {
		sum += stepCost * float64(len(harmony.SinkOperands(s)))
		g, grouped := s.(*harmony.Group)
		if !grouped || len(g.Key) > 0 {
			sum += groupCost + cellCost*share
		}
		if grouped && f.searchesGroup(g, false) {
			sum += searchCost
		}
	}
	return sum
}
