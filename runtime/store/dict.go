package store

import (
	"strings"
	"sync"
)

// Dict maps strings to dense codes from 0. The first Sorted() codes are in byte
// order, so they compare as their strings do; codes interned later, by running
// programs, are in no order. Reading and interning are safe for concurrent use.
type Dict struct {
	mu      sync.RWMutex
	strings []string
	codes   map[string]uint32
	sorted  int
}

// Len returns the number of strings.
func (d *Dict) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.strings)
}

// Sorted returns how many leading codes are in byte order.
func (d *Dict) Sorted() int { return d.sorted }

// String returns the string of a code.
func (d *Dict) String(code uint32) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.strings[code]
}

// Lookup returns the code of a string that is there.
func (d *Dict) Lookup(s string) (uint32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	code, ok := d.codes[s]
	return code, ok
}

// Intern returns the code of a string, adding it when it is new.
func (d *Dict) Intern(s string) uint32 {
	if code, ok := d.Lookup(s); ok {
		return code
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if code, ok := d.codes[s]; ok {
		return code
	}
	s = strings.Clone(s)
	code := uint32(len(d.strings))
	d.strings = append(d.strings, s)
	d.codes[s] = code
	return code
}

// Compare orders two codes by their strings' bytes.
func (d *Dict) Compare(a, b uint32) int {
	if int(a) < d.sorted && int(b) < d.sorted {
		return int(a) - int(b)
	}
	return strings.Compare(d.String(a), d.String(b))
}
