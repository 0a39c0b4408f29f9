package store

import (
	"slices"
	"sync"
)

// maxDerived bounds what a dictionary keeps of what was computed from it.
const maxDerived = 16

// derivedCache has what was computed from all strings of a dictionary, that
// which was asked for last at the end.
type derivedCache struct {
	mu   sync.Mutex
	list []derivation
}

type derivation struct {
	key   string
	value any
}

// Derived returns what compute makes of all strings of the dictionary. It is
// kept under the key, for as long as the dictionary lives or until others were
// asked for, and must not be changed. Of a dictionary that programs intern
// strings into nothing is kept.
func (d *Dict) Derived(key string, compute func() (any, error)) (any, error) {
	c := &d.derived
	if value, ok := c.find(key); ok {
		return value, nil
	}
	value, err := compute()
	if err != nil || d.added.Load() > 0 {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.index(key); at >= 0 { // another goroutine was faster
		return c.list[at].value, nil
	}
	if len(c.list) == maxDerived {
		c.list = slices.Delete(c.list, 0, 1)
	}
	c.list = append(c.list, derivation{key, value})
	return value, nil
}

// Kept returns what Derived keeps under the key.
func (d *Dict) Kept(key string) (value any, ok bool) { return d.derived.find(key) }

func (c *derivedCache) index(key string) int {
	return slices.IndexFunc(c.list, func(x derivation) bool { return x.key == key })
}

func (c *derivedCache) find(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.index(key)
	if at < 0 {
		return nil, false
	}
	found := c.list[at]
	c.list = append(slices.Delete(c.list, at, at+1), found)
	return found.value, true
}
