package mixed

import (
	"cmp"
	"maps"
	"slices"
	"weak"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/store"
)

// columnKey identifies a column of facts without keeping it alive.
type columnKey = weak.Pointer[store.Column]

// cache records which columns the GPU holds and how many leading rows of each.
// All segments of a column are read equally often, because a scan reads every
// row. The first segments are therefore as good as any, and columns that are
// read together are held from the same rows on.
type cache struct {
	budget  int64
	uses    []*use
	held    map[columnKey]int // rows
	weights map[columnKey]float64
	since   int  // runs since the cache was planned
	stale   bool // uses came or went
}

// use is a step together with the columns that the GPU must hold to run it.
type use struct {
	name string // the sort key of uses
	// rows is the size of the table by whose rows the step is divided, and
	// segment the size of a segment. A step that is not divided has one segment
	// of one row.
	rows, segment int
	segments      int
	cols          []column // of the table
	others        []column // read whole
	count         float64  // of runs; older runs count less
	on            int      // segments that the GPU is to hold
	refused       bool     // it runs on the host only
	moved         bool     // the next run on the GPU copies columns
	rates
}

// column is a column that a step reads.
type column struct {
	key   columnKey
	rows  int
	width int64 // bytes a row
}

// newUse lists the columns that a step reads and models its rates.
func (e *Engine) newUse(s *byrows.Step, req *runtime.Request) (*use, error) {
	u := &use{rows: 1, segment: 1, segments: 1}
	plan := s.Seg.Plan
	if s.Rows != nil {
		plan, u.rows = s.Rows.Part, s.Table.Rows
		u.segment = (u.rows + e.sizes.Segments - 1) / e.sizes.Segments
		u.segment = (u.segment + e.sizes.Segment - 1) / e.sizes.Segment * e.sizes.Segment
		u.segments = (u.rows + u.segment - 1) / u.segment
	}
	cols, err := s.Columns(req.Facts)
	if err != nil {
		return nil, err
	}
	bytes := int64(0)
	for _, c := range cols {
		x := column{weak.Make(c.Column), c.Rows, int64(c.Width)}
		if c.Divided {
			u.cols = append(u.cols, x)
		} else {
			u.others = append(u.others, x)
		}
		bytes += x.width * int64(x.rows)
	}
	u.rates = modelled(u.rows, bytes, probesOf(plan), e.sizes.Card)
	return u, nil
}

// probesOf counts the probes of a plan for each row.
func probesOf(plan *queryplan.Plan) (probes int) {
	for _, c := range plan.Commands() {
		queryplan.Walk(queryplan.CommandNode(c), func(n queryplan.Node) {
			switch n := n.(type) {
			case *queryplan.Join:
				probes++
			case *queryplan.MultiJoin:
				probes += len(n.Nodes) - 1
			}
		})
	}
	return probes
}

func (c *cache) add(u *use) {
	c.uses = append(c.uses, u)
	c.stale = true
}

func (c *cache) remove(u *use) {
	c.uses = slices.DeleteFunc(c.uses, func(have *use) bool { return have == u })
	c.stale = true
}

// place counts a run of the plan's steps. It plans the cache again after a
// number of runs, or when the set of uses has changed.
func (e *Engine) place(p *plan) error {
	room, err := e.device.Room()
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.cache
	c.budget = room / 2 // runs need as much for what they derive
	for _, s := range p.steps {
		s.use.count++
	}
	if c.since++; !c.stale && c.since < e.sizes.Runs {
		return nil
	}
	if c.since >= e.sizes.Runs {
		c.since = 0
		for _, u := range c.uses {
			u.count /= 2
		}
	}
	c.stale = false
	e.arrange()
	return nil
}

// moving is the factor by which another choice of columns must save more than
// the current one. A smaller gain is lost to copying.
const moving = 1.1

// choice is a set of columns that fits the GPU.
type choice struct {
	on      []int // segments of each use
	held    map[columnKey]int
	weights map[columnKey]float64 // what a byte of each column saves
	saved   float64
}

// arrange chooses the columns that the GPU holds. It extends the current
// choice, unless a choice from scratch saves much more.
func (e *Engine) arrange() {
	c := &e.cache
	slices.SortFunc(c.uses, func(a, b *use) int { return cmp.Compare(a.name, b.name) })
	next := c.extend(choice{on: make([]int, len(c.uses)), held: map[columnKey]int{},
		weights: map[columnKey]float64{}})
	if now := c.now(); bytesOf(now.held) <= c.budget {
		if more := c.extend(now); next.saved < moving*more.saved {
			next = more
		}
	}
	for i, u := range c.uses {
		u.moved = u.moved || u.on != next.on[i]
		u.on = next.on[i]
	}
	for key, had := range c.held {
		if col := key.Value(); col != nil && had > next.held[key] {
			e.device.Weigh(col, 0)
			e.device.Drop(col)
		}
	}
	for key := range next.held {
		if col := key.Value(); col != nil {
			e.device.Weigh(col, next.weights[key])
		}
	}
	c.held, c.weights = next.held, next.weights
}

// now returns the part of the current choice whose uses the GPU still makes
// faster.
func (c *cache) now() choice {
	x := choice{on: make([]int, len(c.uses)), held: map[columnKey]int{},
		weights: map[columnKey]float64{}}
	for i, u := range c.uses {
		if u.on > 0 && u.gains() {
			x.add(i, u, u.on, 0)
			x.saved += u.count * u.saving() * float64(u.on)
		}
	}
	for key := range x.held {
		x.weights[key] = c.weights[key]
	}
	return x
}

// add adds further segments of use i to the choice.
func (x *choice) add(i int, u *use, segments int, ratio float64) {
	x.on[i] += segments
	for _, col := range u.cols {
		x.held[col.key] = max(x.held[col.key], min(x.on[i]*u.segment, col.rows))
		x.weights[col.key] = max(x.weights[col.key], ratio)
	}
	for _, col := range u.others {
		x.held[col.key] = col.rows
		x.weights[col.key] = max(x.weights[col.key], ratio)
	}
}

// gains reports whether the GPU makes a use faster.
func (u *use) gains() bool { return !u.refused && u.saving() > 0 }

// bytesOf is the size of rows of columns.
func bytesOf(held map[columnKey]int) (bytes int64) {
	for key, rows := range held {
		if col := key.Value(); col != nil {
			bytes += int64(col.Width) * int64(rows)
		}
	}
	return bytes
}

// extend fills the rest of the budget, greedily: in each step it adds one
// segment of the use that saves most per byte. A column that several uses read
// is counted for the first of them only, so columns that are read together are
// chosen together.
func (c *cache) extend(x choice) choice {
	left := c.budget - bytesOf(x.held)
	for {
		best, bestRatio, bestNeed := -1, 0.0, int64(0)
		for i, u := range c.uses {
			if x.on[i] == u.segments || !u.gains() {
				continue
			}
			need, fixed := u.need(x.on[i], x.held)
			if need+fixed > left {
				continue
			}
			// Whole columns are shared by all segments.
			ratio := u.count * u.saving() / (float64(need) + float64(fixed)/float64(u.segments) + 1)
			if best < 0 || ratio > bestRatio {
				best, bestRatio, bestNeed = i, ratio, need+fixed
			}
		}
		if best < 0 {
			return x
		}
		u := c.uses[best]
		left -= bestNeed
		x.saved += u.count * u.saving()
		x.add(best, u, 1, bestRatio)
	}
}

// need returns the bytes that are missing for the segment after the first on
// ones, and those that are missing of the columns read whole.
func (u *use) need(on int, held map[columnKey]int) (next, fixed int64) {
	for _, x := range u.cols {
		until := min((on+1)*u.segment, x.rows)
		next += x.width * int64(max(0, until-held[x.key]))
	}
	for _, x := range u.others {
		fixed += x.width * int64(x.rows-held[x.key])
	}
	return next, fixed
}

// cacheProfile describes the columns of the facts that the GPU holds.
func (e *Engine) cacheProfile(facts *store.Database) *runtime.CacheProfile {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &runtime.CacheProfile{Budget: e.cache.budget}
	held := maps.Clone(e.cache.held)
	for _, rel := range facts.Relations() {
		for i, c := range rel.Columns() {
			rows := held[weak.Make(c)]
			if rows == 0 {
				continue
			}
			delete(held, weak.Make(c))
			bytes := int64(c.Width) * int64(rows)
			p.Bytes += bytes
			p.Columns = append(p.Columns, runtime.CachedColumn{
				Name: rel.Names()[i], Of: rel.Table.Name, Rows: int64(rows), All: int64(c.Len()),
				Bytes: bytes})
		}
	}
	return p
}
