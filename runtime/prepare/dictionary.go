package prepare

import (
	"strconv"
	"sync"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Dictionary numbers the strings of a domain.
type Dictionary struct {
	Dict *store.Dict
	// Grows says that strings computed at run time are interned, behind the
	// sorted ones.
	Grows bool
	remap map[*store.Dict][]uint32

	mu      sync.Mutex
	recoded map[*store.Column]*store.Column // short columns, for other programs
}

// maxRecoded is the size in bytes up to which a dictionary keeps what it
// recoded.
const maxRecoded = 16 << 20

// NewDictionary returns the dictionary of a domain: of the strings of the
// dictionaries that loaded columns have, each of which is given once, and of
// constants. One that grows is always a new one, since the dictionaries of
// loaded facts belong to all runs.
func NewDictionary(loaded []*store.Dict, constants []string, grows bool) *Dictionary {
	dicts := loaded
	if grows || len(dicts) == 0 {
		dicts = append(dicts[:len(dicts):len(dicts)], store.NewDict(nil))
	}
	merged, remaps := store.MergeDicts(dicts, constants)
	if grows && len(loaded) > 0 && merged == loaded[0] {
		// Only an empty dictionary is equal to an empty one.
		merged = store.NewDict(nil)
	}
	d := &Dictionary{Dict: merged, Grows: grows, remap: map[*store.Dict][]uint32{},
		recoded: map[*store.Column]*store.Column{}}
	for i, dict := range dicts {
		d.remap[dict] = remaps[i]
	}
	return d
}

// Memory accounts for what a run holds; an *account.Memory does.
type Memory interface {
	Reserve(what string, bytes int64) error
	Release(bytes int64)
}

// The names of dictionaries in messages.
const (
	mergedStrings   = "a dictionary of strings that meet"
	computedStrings = "the dictionary of computed strings"
)

// NewAccounted is NewDictionary in accounted memory, nil for none. A string
// that is interned beyond the bound panics with the error of Reserve.
func NewAccounted(mem Memory, loaded []*store.Dict, constants []string,
	grows bool) (*Dictionary, error) {
	if mem == nil {
		return NewDictionary(loaded, constants, grows), nil
	}
	var bytes int64
	if grows || len(loaded) > 1 {
		for _, d := range loaded {
			bytes += d.Bytes() + remapBytes*int64(d.Len())
		}
	}
	if err := mem.Reserve(mergedStrings, bytes); err != nil {
		return nil, err
	}
	d := NewDictionary(loaded, constants, grows)
	switch {
	case len(loaded) > 0 && d.Dict == loaded[0]:
		mem.Release(bytes)
	case grows:
		d.Dict.Charge(func(bytes int64) {
			if err := mem.Reserve(computedStrings, bytes); err != nil {
				panic(err)
			}
		})
	}
	return d, nil
}

// remapBytes is what a merge takes for each string.
const remapBytes = 8

// Recode translates a column from one of the loaded dictionaries into this one.
// It reports whether that copied the entries. Threads bounds the threads that
// copy.
func (d *Dictionary) Recode(c *store.Column, threads int) (recoded *store.Column, copied bool) {
	remap := d.remap[c.Dict]
	if remap == nil {
		return c.WithDict(d.Dict, nil, threads), false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if recoded = d.recoded[c]; recoded == nil {
		recoded = c.WithDict(d.Dict, remap, threads)
		if c.Bytes() <= maxRecoded {
			d.recoded[c] = recoded
		}
	}
	return recoded, true
}

// extended returns the dictionary of a loaded one's strings and of constants,
// which the loaded one keeps for other programs.
func extended(loaded *store.Dict, constants []string) *Dictionary {
	key := "with"
	for _, s := range constants {
		key += " " + strconv.Quote(s)
	}
	d, _ := loaded.Derived(key, func() (any, error) {
		return NewDictionary([]*store.Dict{loaded}, constants, false), nil
	})
	return d.(*Dictionary)
}

// Bounds returns the range of the codes.
func (d *Dictionary) Bounds() interval.Interval {
	if d.Grows {
		return interval.OfType(scalar.StringType)
	}
	if d.Dict.Len() == 0 {
		return interval.None
	}
	return interval.Interval{Lo: 0, Hi: int64(d.Dict.Len()) - 1}
}

// Place returns the codes lo and hi between which a string has its place in a
// dictionary that does not grow: smaller strings have codes below lo, greater
// ones from hi. They are equal if the string is not there.
func (d *Dictionary) Place(s string) (lo, hi int64) {
	lo = int64(d.Dict.LowerBound(s))
	hi = lo
	if _, ok := d.Dict.Lookup(s); ok {
		hi++
	}
	return lo, hi
}
