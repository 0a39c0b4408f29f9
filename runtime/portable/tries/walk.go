package tries

import (
	"slices"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// walker is a worker's walk through the tries of a multijoin: it binds one
// variable after the other to the values that all inputs with that variable
// have under what is bound so far (Leapfrog Triejoin: Veldhuizen, ICDT 2014).
type walker[K Word] struct {
	src    *Join[K]
	run    *work.Run
	inputs []walked[K]
	bound  []K // of the variables
	// cursors are those of each variable, for intersections of three and more.
	cursors [][]cursor[K]
	// first and last are the nodes of each level of the lead that the scanned
	// rows begin and end with, and behind the levels those rows.
	first, last []uint32
	// plain says that each combination of keys is one row of every input, and
	// that no column of a payload is needed.
	plain bool

	marks marks[K]
	// met are the values that the fixed lists have in common, of the nodes
	// fixedAt.
	met     []K
	fixedAt [][2]uint32
	// lists, fixedLists, metRoom and room are buffers of the last variable.
	lists, fixedLists [][]K
	metRoom, room     []K

	next  work.Op
	batch work.Batch
	size  int
	// chosen are the inputs with a payload, rows the rows of them that the
	// tuple at hand has, and places those of all tuples of the batch.
	chosen []int
	rows   []uint32
	places [][]uint32
	steps  int
}

// walked is an input during a walk: the range of nodes of each level that are
// under the bound values, and behind the levels the range of rows.
type walked[K Word] struct {
	trie     *Trie[K]
	from, to []uint32
}

// cursor is a place in a sorted list.
type cursor[K Word] struct {
	list []K
	at   int
	from uint32 // the node that list starts with
	in   int    // the place of the variable that it is of
	// root is the trie if the list is of its first level and can be looked up.
	root *Trie[K]
}

// seek moves to the first value that is not less than v.
func (c *cursor[K]) seek(v K) bool {
	if c.root != nil {
		if node := c.root.lowerBound(v); node > c.from {
			c.at = max(c.at, int(node-c.from))
		}
	} else {
		c.at = seek(c.list, c.at, v)
	}
	return c.at < len(c.list)
}

func (s *walker[K]) Scan(from, to int, next work.Op) {
	lead := &s.inputs[s.src.lead]
	first := uint32((from + leadWeight - 1) / leadWeight)
	end := uint32((to + leadWeight - 1) / leadWeight)
	if first >= end {
		return
	}
	s.next = next
	s.plain = len(s.chosen) == 0
	for i := range s.inputs {
		x := &s.inputs[i]
		x.from[0], x.to[0] = 0, uint32(len(x.trie.vals[0]))
		s.plain = s.plain && x.trie.below[len(x.trie.below)-1] == nil
	}
	levels := len(lead.trie.vals)
	for l := range levels {
		nodes := uint32(len(lead.trie.vals[l]))
		s.first[l] = lead.trie.nodeOf(l, 0, nodes, first)
		s.last[l] = lead.trie.nodeOf(l, s.first[l], nodes, end-1)
	}
	s.first[levels], s.last[levels] = first, end-1
	lead.from[0], lead.to[0] = s.first[0], s.last[0]+1
	clear(s.fixedAt) // no list is empty, so that none is known
	s.variable(0)
	s.flush()
	s.marks.clear()
}

// list returns the values of a trie's level that are under what is bound.
func (s *walker[K]) list(at Place) []K {
	x := &s.inputs[at.Input]
	return x.trie.vals[at.Level][x.from[at.Level]:x.to[at.Level]]
}

// descend makes a node the one that its input goes on under.
func (s *walker[K]) descend(at Place, node uint32) {
	x := &s.inputs[at.Input]
	from, to := x.trie.children(at.Level, node)
	if at.Input == s.src.lead {
		from, to = max(from, s.first[at.Level+1]), min(to, s.last[at.Level+1]+1)
	}
	x.from[at.Level+1], x.to[at.Level+1] = from, to
}

// variable binds variable v to each of its values in turn, and those after it.
func (s *walker[K]) variable(v int) {
	if s.plain && v == len(s.src.Vars)-1 {
		s.lastVariable(v)
		return
	}
	at := s.src.Vars[v].At
	if len(at) > 2 {
		s.leapfrog(v)
		return
	}
	a, b := at[0], at[1]
	x, y := s.list(a), s.list(b)
	if len(x) > len(y) {
		a, b, x, y = b, a, y, x
	}
	fromX, fromY := s.inputs[a.Input].from[a.Level], s.inputs[b.Input].from[b.Level]
	if t := s.inputs[b.Input].trie; b.Level == 0 && t.direct != nil {
		toY := s.inputs[b.Input].to[0]
		for i, value := range x {
			if node, ok := t.find(value); ok && node >= fromY && node < toY {
				s.bound[v] = value
				s.descend(a, fromX+uint32(i))
				s.descend(b, node)
				s.after(v)
			}
		}
		return
	}
	j := 0
	for i := 0; i < len(x); i++ {
		if j = seek(y, j, x[i]); j == len(y) {
			return
		}
		if y[j] != x[i] {
			// The values between them in x are not in y.
			i = seek(x, i, y[j]) - 1
			continue
		}
		s.bound[v] = x[i]
		s.descend(a, fromX+uint32(i))
		s.descend(b, fromY+uint32(j))
		s.after(v)
		j++
	}
}

// leapfrog is variable for three and more lists: the lists take turns to seek
// the largest value that one of them is at, until all are at the same.
func (s *walker[K]) leapfrog(v int) {
	at, lists := s.src.Vars[v].At, s.cursors[v]
	for i, p := range at {
		lists[i] = cursor[K]{list: s.list(p), from: s.inputs[p.Input].from[p.Level], in: i}
		if t := s.inputs[p.Input].trie; p.Level == 0 && t.direct != nil {
			lists[i].root = t
		}
		if len(lists[i].list) == 0 {
			return
		}
	}
	slices.SortFunc(lists, func(a, b cursor[K]) int { return len(a.list) - len(b.list) })
	value, agree := lists[0].list[0], 1
	for i := 1; ; i++ {
		if i == len(lists) {
			i = 0
		}
		c := &lists[i]
		if !c.seek(value) {
			return
		}
		if c.list[c.at] != value {
			value, agree = c.list[c.at], 1
			continue
		}
		if agree++; agree < len(lists) {
			continue
		}
		s.bound[v] = value
		for k := range lists {
			s.descend(at[lists[k].in], lists[k].from+uint32(lists[k].at))
		}
		s.after(v)
		if c.at++; c.at == len(c.list) {
			return
		}
		value, agree = c.list[c.at], 1
	}
}

// after goes on when variable v is bound.
func (s *walker[K]) after(v int) {
	if v < len(s.src.Vars)-1 {
		if s.steps++; s.steps&1023 == 0 {
			s.run.Stop.Check()
		}
		s.variable(v + 1)
		return
	}
	copies := uint64(1)
	for i := range s.inputs {
		if x := &s.inputs[i]; !slices.Contains(s.chosen, i) {
			l := len(x.from) - 1
			copies *= uint64(x.to[l] - x.from[l])
		}
	}
	s.combine(0, copies)
}

// combine emits all combinations of rows with the bound keys of the inputs with
// a payload, from the k-th of them on.
func (s *walker[K]) combine(k int, copies uint64) {
	if k == len(s.chosen) {
		s.emit(copies)
		return
	}
	x := &s.inputs[s.chosen[k]]
	l := len(x.from) - 1
	for row := x.from[l]; row < x.to[l]; row++ {
		s.rows[k] = row
		s.combine(k+1, copies)
	}
}

// emit appends the tuple at hand as often as said.
func (s *walker[K]) emit(copies uint64) {
	if s.src.Counted && copies > 0 {
		s.batch.Copies[s.batch.N] = copies
		s.fill(1, -1)
		return
	}
	for copies > 0 {
		n := int(min(copies, uint64(s.size-s.batch.N)))
		s.fill(n, -1)
		copies -= uint64(n)
	}
}

// fill completes the next n tuples of the batch with the bound values, except
// that of one variable, and the chosen rows.
func (s *walker[K]) fill(n, except int) {
	from, to := s.batch.N, s.batch.N+n
	for v := range s.src.Vars {
		if slot := s.src.Vars[v].Slot; slot >= 0 && v != except {
			word := s.word(s.bound[v])
			col := s.batch.Cols[slot][from:to]
			for i := range col {
				col[i] = word
			}
		}
	}
	if s.src.Counted && except >= 0 {
		for i := from; i < to; i++ {
			s.batch.Copies[i] = 1
		}
	}
	for k, row := range s.rows {
		places := s.places[k][from:to]
		for i := range places {
			places[i] = row
		}
	}
	if s.batch.N = to; to == s.size {
		s.flush()
	}
}

// word returns the word of a column that a value of a trie stands for.
func (s *walker[K]) word(v K) int64 { return int64(uint64(v) + uint64(s.src.Base)) }

func (s *walker[K]) flush() {
	if s.batch.N == 0 {
		return
	}
	s.run.Stop.Check()
	for _, c := range s.src.Pays {
		places := s.places[slices.Index(s.chosen, c.Input)][:s.batch.N]
		in := s.src.Inputs[c.Input]
		in.lay.UnpackAt(s.batch.Cols[c.Slot], in.words, places, c.Field)
	}
	s.next.Push(&s.batch)
	s.batch.N = 0
}

// gallopRatio is how much longer one list is than the other where stepping
// through both gets slower than searching the longer one.
const gallopRatio = 16

// lastVariable emits a tuple for each value of the last variable.
func (s *walker[K]) lastVariable(v int) {
	lists := s.lists[:0]
	for _, p := range s.src.moving {
		lists = append(lists, s.list(p))
	}
	if len(s.src.fixed) > 0 {
		fixed := s.fixedList()
		if len(lists) == 1 && s.marks.take(s.run, fixed) &&
			len(lists[0]) < gallopRatio*len(fixed) {
			s.emitMarked(v, lists[0])
			return
		}
		lists = append(lists, fixed)
	}
	s.lists = lists
	longest := len(lists) - 1
	sortLists(lists)
	s.emitCommon(v, s.meet(&s.room, lists[:longest]), lists[longest])
}

// fixedList returns what the fixed lists have in common. It is the same slice
// while they are the same.
func (s *walker[K]) fixedList() []K {
	fixed := s.src.fixed
	if len(fixed) == 1 {
		return s.list(fixed[0])
	}
	known := true
	for i, p := range fixed {
		x := &s.inputs[p.Input]
		if at := [2]uint32{x.from[p.Level], x.to[p.Level]}; s.fixedAt[i] != at {
			s.fixedAt[i], known = at, false
		}
	}
	if !known {
		s.marks.clear()
		lists := s.fixedLists[:0]
		for _, p := range fixed {
			lists = append(lists, s.list(p))
		}
		s.fixedLists = lists
		sortLists(lists)
		s.met = s.meet(&s.metRoom, lists)
	}
	return s.met
}

// sortLists puts the shortest list first.
func sortLists[K Word](lists [][]K) {
	slices.SortFunc(lists, func(a, b []K) int { return len(a) - len(b) })
}

// meet returns the values that all lists, the shortest first, have in common.
// Those of several lists stand in room, which grows.
func (s *walker[K]) meet(room *[]K, lists [][]K) []K {
	x := lists[0]
	if len(lists) > 1 && len(*room) < len(x) {
		work.Free(s.run.Mem, *room)
		*room = work.Alloc[K](s.run.Mem, "the common values of lists", 2*len(x))
	}
	for _, y := range lists[1:] {
		n, _, _ := common((*room)[:len(x)], x, y, 0)
		x = (*room)[:n]
	}
	return x
}

// emitCommon emits a tuple for each value that two lists, the first of them the
// shorter, have in common; the values are those of the last variable.
func (s *walker[K]) emitCommon(v int, x, y []K) {
	slot := s.src.Vars[v].Slot
	if slot < 0 {
		s.emit(uint64(countCommon(x, y)))
		return
	}
	for len(x) > 0 && len(y) > 0 {
		from := s.batch.N
		n, i, j := common(s.batch.Cols[slot][from:], x, y, s.src.Base)
		s.fill(n, v)
		x, y = x[i:], y[j:]
	}
}

// emitMarked is emitCommon for the list that is marked and another.
func (s *walker[K]) emitMarked(v int, list []K) {
	slot := s.src.Vars[v].Slot
	if slot < 0 {
		s.emit(uint64(s.marks.count(list)))
		return
	}
	for len(list) > 0 {
		dst := s.batch.Cols[slot][s.batch.N:]
		some := list[:min(len(list), len(dst))]
		n := 0
		for _, value := range some {
			dst[n] = s.word(value)
			n += s.marks.has(value)
		}
		s.fill(n, v)
		list = list[len(some):]
	}
}

// common writes the values, plus a base, that two sorted lists without repeated
// values have in common until dst is full or a list is at its end, and returns
// their number and how far it came in the lists. dst may be x.
func common[K Word, D Word | int64](dst []D, x, y []K, base D) (n, i, j int) {
	if len(y) >= gallopRatio*len(x) {
		for i < len(x) && n < len(dst) {
			if j = seek(y, j, x[i]); j == len(y) {
				return n, len(x), j
			}
			if y[j] == x[i] {
				dst[n] = D(x[i]) + base
				n++
			}
			i++
		}
		return n, i, j
	}
	for i < len(x) && j < len(y) && n < len(dst) {
		a, b := x[i], y[j]
		// Always written, and kept if they are equal: nothing to mispredict.
		dst[n] = D(a) + base
		n += work.Bit(a == b)
		i += work.Bit(a <= b)
		j += work.Bit(b <= a)
	}
	return n, i, j
}

// countCommon is common for when only the number matters.
func countCommon[K Word](x, y []K) (n int) {
	i, j := 0, 0
	if len(y) >= gallopRatio*len(x) {
		for _, a := range x {
			if j = seek(y, j, a); j == len(y) {
				return n
			}
			n += work.Bit(y[j] == a)
		}
		return n
	}
	for i < len(x) && j < len(y) {
		a, b := x[i], y[j]
		n += work.Bit(a == b)
		i += work.Bit(a <= b)
		j += work.Bit(b <= a)
	}
	return n
}

// seek returns the first place of a sorted list, from at on, whose value is not
// less than v, in time logarithmic in the distance (Bentley, Yao, 1976).
func seek[K Word](list []K, at int, v K) int {
	if at >= len(list) || list[at] >= v {
		return at
	}
	step := 1
	for at+step < len(list) && list[at+step] < v {
		at += step
		step *= 2
	}
	// The value at at is less; that at to, or the end, is not.
	to := min(at+step, len(list))
	for to-at > 1 {
		if mid := at + (to-at)/2; list[mid] < v {
			at = mid
		} else {
			to = mid
		}
	}
	return to
}
