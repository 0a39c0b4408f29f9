package emit

import (
	"github.com/redfoxdb/redfox/harmony"
)

// What is done for a row costs a GPU so many picoseconds: an H200's, where all
// multiprocessors work on such rows. Instructions and what is read in order cost all rows of
// a tile, random accesses those that are left.
const (
	stepCost   = 0.15 // of a stage: some instructions
	byteCost   = 0.22 // of a column that is read in order
	probeCost  = 1.0  // of the instructions of a probe or a gather
	randomCost = 10.0 // of its access to a table that the second-level cache holds
	bitCost    = 2.0  // of one to a bit set that a multiprocessor's own cache holds
	rowCost    = 27.0 // of an access to a column by a row's number
	groupCost  = 2.0  // of the instructions that add to the cells of a group
	searchCost = 3.0  // of those that search for it
	cellCost   = 10.0 // of the atomics
	pushCost   = 0.5  // of the instructions that push a tile's rows
	takeCost   = 5.0  // of a row that is pushed and taken
	// gatherLoss is how many times as long a column takes that is read by the rows' numbers,
	// where most of its sectors have one.
	gatherLoss = 2.5
)

// mostSharePushed is the share of the rows above which a queue gains nothing.
const mostSharePushed = 0.5

// leastGain is what a kernel with a queue may cost of what it costs without one: the
// estimate is rough, and the kernel's code is longer.
const leastGain = 0.9

// chooseCut returns the stage of a GPU's kernel before which a queue is expected to save
// most, 0 if none saves much: where few rows are left, and the rest is much to do for
// them. Shares are those of the rows that are left before each stage. What is needed there
// has to be found again from the row's number: so rows are a relation's, each becomes one
// at most, and functions give the same value twice. Rows change places: so nothing asks for
// their order.
func (w *kernel) chooseCut(shares []float64) int {
	rows, ok := w.k.Source.(*harmony.Rows)
	if !ok || rows.Version != harmony.Full {
		return 0
	}
	for _, s := range w.stages {
		m, ok := s.(*harmony.Map)
		if isExpansion(s) || ok && (m.Func.Volatile || w.isHost(m)) {
			return 0
		}
	}
	for _, s := range w.k.Sinks {
		if g, ok := s.(*harmony.Group); ok && w.isOrdered(g.To) {
			return 0
		}
	}
	if w.module.opts.Cut {
		return w.firstCut()
	}
	none := w.cost(w.stages, shares, 1) + w.sinkCost(shares[len(w.stages)])
	best, least := 0, none
	for cut := 1; cut <= len(w.stages); cut++ {
		// Of filters in a row the last one says how few rows are left.
		share := shares[cut]
		if !mayDrop(w.stages[cut-1]) || cut < len(w.stages) && isDrop(w.stages[cut]) || share > mostSharePushed {
			continue
		}
		behind := w.behind(cut)
		alone := make([]float64, len(behind)+1) // shares of the rows in the queue
		again := len(behind) - len(w.stages[cut:])
		for i := range alone {
			if alone[i] = 1; i >= again {
				alone[i] = shares[cut+i-again] / share
			}
		}
		cost := w.cost(w.stages[:cut], shares, 1) + pushCost +
			share*(takeCost+w.cost(behind, alone, share)+w.sinkCost(alone[len(behind)]))
		if cost < least && cost < leastGain*none {
			best, least = cut, cost
		}
	}
	return best
}

// firstCut is the first place where rows have been dropped.
func (w *kernel) firstCut() int {
	for i, s := range w.stages {
		if mayDrop(s) {
			return i + 1
		}
	}
	return 0
}

// mayDrop reports whether a stage may drop rows.
func mayDrop(s harmony.Stage) bool {
	_, probes := s.(*harmony.Probe)
	return probes || isDrop(s)
}

// isRandom reports whether a stage reads memory at random.
func isRandom(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Probe, *harmony.Gather:
		return true
	}
	return false
}

// cost is that of stages for a row of a tile, of which shares are left before each of
// them. Dense is the share of the source's rows that the tile has: a tile of less than all
// reads by their numbers.
func (w *kernel) cost(stages []harmony.Stage, shares []float64, dense float64) float64 {
	sum := 0.0
	for i, s := range stages {
		sum += stepCost
		switch s := s.(type) {
		case *harmony.Load:
			c := w.sourceColumn(s.Col)
			width, known := w.fixed(c.width, c.name, c.index)
			if !known {
				width = 8
			}
			if inOrder := byteCost * float64(width); dense == 1 {
				sum += inOrder
			} else {
				sum += shares[i] * min(rowCost, gatherLoss*inOrder/dense)
			}
		case *harmony.Probe:
			access := randomCost
			if w.isBitmap(s.Index) {
				access = bitCost
			}
			sum += probeCost + access*shares[i]
		case *harmony.Gather:
			sum += probeCost + randomCost*shares[i]
		}
	}
	return sum
}

// isBitmap reports whether an index is a bit set that a multiprocessor's own cache holds.
func (w *kernel) isBitmap(x *harmony.Index) bool {
	const most = 20 // bits of its keys
	if x.Kind != harmony.Exists {
		return false
	}
	k := &keys{kernel: w, kinds: indexKey, name: x.Name, words: make([]*array, len(x.Key))}
	bits, ok := k.numbers()
	return ok && bits <= most
}

// sinkCost is that of the sinks for a row of a tile of which a share is left.
func (w *kernel) sinkCost(share float64) float64 {
	sum := 0.0
	for _, s := range w.k.Sinks {
		sum += stepCost * float64(len(harmony.SinkOperands(s)))
		g, grouped := s.(*harmony.Group)
		if !grouped || len(g.Key) > 0 {
			sum += groupCost + cellCost*share
		}
		if grouped && w.searchesGroup(g) {
			sum += searchCost
		}
	}
	return sum
}
