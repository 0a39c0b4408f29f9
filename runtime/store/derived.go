package store

import (
	"slices"
	"sync"
)

// maxDerived bounds the results that a dictionary keeps.
const maxDerived = 16

// derivedCache holds results that were computed from all strings of a
// dictionary, the most recently used last.
type derivedCache struct {
	mu   sync.Mutex
	list []derivation
}

type derivation struct {
	key   string
	value any
}

// Derived returns the result of compute over all strings of the dictionary. The
// result is kept under key, as long as the dictionary lives and until others
// displace it, and must not be changed. Nothing is kept for a dictionary that
// programs intern strings into.
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
	if at := c.index(key); at >= 0 { // another goroutine has computed it
		return c.list[at].value, nil
	}
	if len(c.list) == maxDerived {
		c.list = slices.Delete(c.list, 0, 1)
	}
	c.list = append(c.list, derivation{key, value})
	return value, nil
}

// Kept returns the result that Derived keeps under a key.
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
