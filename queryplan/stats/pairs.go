package stats

import (
	"math"

	"github.com/redfoxdb/redfox/queryplan"
)

// surePairs is the number of equal pairs of rows from which on their share is
// taken from samples alone.
const surePairs = 32

// agreement estimates the probability that a row of one result and one of
// another have the same values in the join columns, given what is expected
// without a look at them. In a stored column that ascends the rows with the
// values of the other side's sample are counted, whatever their number. Else
// the pairs of rows of the two samples that have equal values are: those that
// are frequent on both sides are in both samples (Haas, Naughton, Seshadri,
// Swami, JCSS 1996: t_index and t_cross). Where pairs are few they decide as
// far as they allow.
func agreement(l, r *Estimate, on []string, expected float64) float64 {
	for _, a := range l.views {
		for _, b := range r.views {
			if len(on) == 1 {
				if share, ok := a.repeated(b, on[0]); ok {
					return share
				}
				if share, ok := b.repeated(a, on[0]); ok {
					return share
				}
			}
			if p, ok := a.meet(b, on); ok {
				return p.share(expected)
			}
		}
	}
	return expected
}

// storedColumn is a column of a table.
type storedColumn struct {
	table  *Table
	column int
}

// stored returns the column of the view's own table of which a result's column
// is a copy, if it is one.
func (v *view) stored(name string) (storedColumn, bool) {
	ref, ok := v.exprs[name].(*queryplan.ColRef)
	if !ok {
		return storedColumn{}, false
	}
	link, column := parseColumn(ref.Col.Name)
	return storedColumn{v.table, column}, link == 0
}

// repeated returns the probability that a row of a view and one of another have
// the same value. It counts the rows of the table of the other view that have
// the values of this sample. ok is false if it cannot, or if there are too few.
func (v *view) repeated(o *view, name string) (share float64, ok bool) {
	in, ok := o.stored(name)
	if !ok || !o.table.Columns[in.column].Ascending || v.exprs[name] == nil || v.n < fewValues &&
		(!v.whole() || v.n == 0) {
		return 0, false
	}
	of := v.table.Sample.evaluate(v.exprs[name])
	if of.ids == nil {
		return 0, false
	}
	repeats, sum := of.repeatsIn(in), 0.0
	for i, id := range of.ids {
		if v.rows.has(i) && of.has.has(i) {
			sum += float64(repeats[id])
		}
	}
	return max(sum, 0.5) / float64(v.n) / float64(o.table.Rows), true
}

// repeatsIn returns for each value of an expression how many rows have it in a
// column that ascends.
func (e *evaluated) repeatsIn(c storedColumn) []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return remember(&e.repeats, c, func() []int64 {
		out := make([]int64, len(e.each))
		for id, found := range c.table.Sample.Data.Find(c.column, e.each) {
			out[id] = int64(found.Until - found.From)
		}
		return out
	})
}

// remember returns the memory's value for a key, computed on the first call. A
// full memory is cleared.
func remember[K comparable, V any](memory *map[K]V, key K, compute func() V) V {
	if v, ok := (*memory)[key]; ok {
		return v
	}
	if *memory == nil || len(*memory) >= maxHeld {
		*memory = map[K]V{}
	}
	v := compute()
	(*memory)[key] = v
	return v
}

// mostlyEqual is the share of neighbours that are equal from which on rows are
// taken to lie next to each other by their values.
const mostlyEqual = 0.5

// clustered reports whether rows that have the same values in the columns lie
// next to each other. Samples, which have a row from each of equal parts, then
// have fewer of the equal pairs of one table, and more of those of two tables
// that are alike.
func (v *view) clustered(on []string) bool {
	for _, name := range on {
		if c, ok := v.stored(name); ok {
			if col := v.table.Columns[c.column]; col.Ascending || col.Equal > mostlyEqual {
				return true
			}
		}
	}
	return false
}

// pairs counts the pairs of rows of two samples, and those with equal values.
type pairs struct {
	equal, all float64 // where both are rows of one table, of two different ones
	// own is the share of a row with itself among the pairs of the two results,
	// and ownEqual the share of these that have equal values.
	own, ownEqual float64
	exact         bool // the samples are whole tables
	few           bool // there are too few rows on a side to go by them
}

// share is the share of all pairs that have equal values.
func (p pairs) share(expected float64) float64 {
	share := expected
	switch {
	case p.exact && p.all > 0:
		share = max(p.equal, 0.1) / p.all
	case p.few:
	case p.equal >= surePairs:
		share = p.equal / p.all
	default:
		share = min(max(expected, p.equal/4/p.all), (p.equal+4*math.Sqrt(p.equal)+4)/p.all)
	}
	return share*(1-p.own) + p.ownEqual*p.own
}

// meet counts the pairs of rows of two views that have equal values in common
// columns. ok is false if a view lacks some of them, or does not represent
// pairs.
func (v *view) meet(o *view, on []string) (p pairs, ok bool) {
	if v.clustered(on) && o.clustered(on) && !(v.whole() && o.whole()) {
		return p, false
	}
	mine, room := v.keys(on, nil)
	if mine == nil {
		return p, false
	}
	theirs, _ := o.keys(on, v)
	if theirs == nil {
		return p, false
	}
	count := counter(room)
	for i, key := range mine {
		if key >= 0 && v.rows.has(i) {
			count.add(key)
		}
	}
	both, equal := 0, 0
	for i, key := range theirs {
		if !o.rows.has(i) {
			continue
		}
		if key >= 0 {
			p.equal += float64(count.of(key))
		}
		if v.table == o.table && v.rows.has(i) {
			both++
			if key >= 0 && key == mine[i] {
				equal++
			}
		}
	}
	p.all = float64(v.n)*float64(o.n) - float64(both)
	p.equal -= float64(equal)
	p.exact = v.whole() && o.whole()
	p.few = min(v.n, o.n) < fewValues
	if both > 0 {
		p.own = float64(both) / (float64(v.n) * float64(o.n)) *
			float64(len(v.table.Sample.Rows)) / float64(v.table.Rows)
		p.ownEqual = float64(equal) / float64(both)
	}
	return p, true
}

// keys numbers the values that the sample's rows have in some columns: as those
// of the view like, which has the columns, too, or by themselves if that is
// nil. A row has -1 where it has no values, or none of like's. Numbers are less
// than room; there are none if the view does not have the columns or too many
// combinations of values.
func (v *view) keys(on []string, like *view) (keys []int64, room int64) {
	const most = 1 << 62
	keys, room = make([]int64, len(v.table.Sample.Rows)), 1
	for _, name := range on {
		e := v.exprs[name]
		if e == nil {
			return nil, 0
		}
		of := v.table.Sample.evaluate(e)
		if of.ids == nil {
			return nil, 0
		}
		values, number := int64(len(of.each)), func(id int32) int32 { return id }
		if like != nil {
			model := like.table.Sample.evaluate(like.exprs[name])
			in := model.numbersOf(of)
			values, number = int64(len(model.each)), func(id int32) int32 { return in[id] }
		}
		if room > most/max(1, values) {
			return nil, 0
		}
		for i := range keys {
			if keys[i] < 0 {
				continue
			}
			id := int32(-1)
			if of.has.has(i) {
				id = number(of.ids[i])
			}
			if id < 0 {
				keys[i] = -1
			} else {
				keys[i] = keys[i]*values + int64(id)
			}
		}
		room *= max(1, values)
	}
	return keys, room
}

// numbersOf returns for each value of another expression its number here, -1 if
// it has none.
func (e *evaluated) numbersOf(o *evaluated) []int32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return remember(&e.others, o, func() []int32 {
		in := make([]int32, len(o.each))
		for i, v := range o.each {
			in[i] = -1
			if id, ok := e.number[v]; ok {
				in[i] = id
			}
		}
		return in
	})
}

// keyCounter counts keys, in a list where there is room for few.
type keyCounter struct {
	list []int32
	rest map[int64]int32
}

func counter(room int64) *keyCounter {
	if room <= 1<<12 {
		return &keyCounter{list: make([]int32, room)}
	}
	return &keyCounter{rest: map[int64]int32{}}
}

func (c *keyCounter) add(key int64) {
	if c.list != nil {
		c.list[key]++
	} else {
		c.rest[key]++
	}
}

func (c *keyCounter) of(key int64) int32 {
	if c.list != nil {
		return c.list[key]
	}
	return c.rest[key]
}
