package woven

import (
	"slices"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// keptCode is the number of layouts of facts whose code Codes keeps.
const keptCode = 4

// Codes keeps the code of a program for the facts that were seen last. It is
// safe for concurrent use.
type Codes[C any] struct {
	// Drop frees unused code.
	Drop func(C)

	// making is held while code is generated, one after the other: facts that
	// wait for it may find that its assumptions hold for them, too.
	making sync.Mutex

	mu     sync.Mutex
	list   []*Code[C] // most recently used first
	closed bool
}

// Code is code in memory, and its assumptions about the facts.
type Code[C any] struct {
	Made C

	fixed  map[abi.Param]answer
	ranges map[*harmony.Reg]answer
	last   weak.Pointer[Bound] // facts that it served
	users  int                 // runs at work
	doomed bool                // the last user drops it
}

// holds reports whether the assumptions hold for other facts.
func (c *Code[C]) holds(b *Bound) bool {
	for p, a := range c.fixed {
		if b.fix(p) != a {
			return false
		}
	}
	for r, a := range c.ranges {
		if b.reg(r) != a {
			return false
		}
	}
	return true
}

// Use returns code for facts, and generates it if necessary. The caller
// releases it. Callers whose code is there do not wait for code that is being
// generated. After Close, each caller gets code of its own.
func (l *Codes[C]) Use(b *Bound, generate func(Knowledge) (C, error)) (*Code[C], error) {
	if c := l.find(b); c != nil {
		return c, nil
	}
	l.making.Lock()
	defer l.making.Unlock()
	if c := l.find(b); c != nil {
		return c, nil
	}
	c := &Code[C]{fixed: map[abi.Param]answer{}, ranges: map[*harmony.Reg]answer{},
		last: weak.Make(b), users: 1}
	var err error
	if c.Made, err = generate(c.listening(b)); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.doomed = true
		return c, nil
	}
	l.list = slices.Insert(l.list, 0, c)
	if last := len(l.list) - 1; last == keptCode {
		l.doom(l.list[last])
		l.list = l.list[:last]
	}
	return c, nil
}

// find returns kept code for facts, with one more user, or nil.
func (l *Codes[C]) find(b *Bound) *Code[C] {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := weak.Make(b)
	at := slices.IndexFunc(l.list, func(c *Code[C]) bool { return c.last == same || c.holds(b) })
	if at < 0 {
		return nil
	}
	c := l.list[at]
	copy(l.list[1:at+1], l.list[:at])
	l.list[0] = c
	c.last = same
	c.users++
	return c
}

// listening returns the knowledge of facts, and makes c keep the answers as
// assumptions. It is safe for concurrent use.
func (c *Code[C]) listening(b *Bound) Knowledge {
	var mu sync.Mutex
	k := b.Knowledge()
	fix, reg := k.Fix, k.Range
	k.Fix = func(entry string, p abi.Param) (int64, bool) {
		v, ok := fix(entry, p)
		mu.Lock()
		defer mu.Unlock()
		c.fixed[p] = answer{v, v, ok}
		return v, ok
	}
	k.Range = func(r *harmony.Reg) (lo, hi int64, ok bool) {
		lo, hi, ok = reg(r)
		mu.Lock()
		defer mu.Unlock()
		c.ranges[r] = answer{lo, hi, ok}
		return lo, hi, ok
	}
	return k
}

// Release ends a run's use of code.
func (l *Codes[C]) Release(c *Code[C]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.users--
	if c.doomed && c.users == 0 {
		l.Drop(c.Made)
	}
}

// Close drops all code, and code in use after its last run.
func (l *Codes[C]) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.list {
		l.doom(c)
	}
	l.list, l.closed = nil, true
}

// Len returns the number of layouts of facts with code.
func (l *Codes[C]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

func (l *Codes[C]) doom(c *Code[C]) {
	c.doomed = true
	if c.users == 0 {
		l.Drop(c.Made)
	}
}
