package prepare

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Dictionary numbers the strings of a domain.
type Dictionary struct {
	Dict *store.Dict
	// Grows says that strings computed at run time are interned, behind the sorted
	// ones.
	Grows bool
	remap map[*store.Dict][]uint32
}

// NewDictionary returns the dictionary of a domain: of the strings of the
// dictionaries that loaded columns have, each of which is given once, and of
// constants. One that grows is always a new one, since the dictionaries of loaded
// facts belong to all runs.
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
	d := &Dictionary{Dict: merged, Grows: grows, remap: map[*store.Dict][]uint32{}}
	for i, dict := range dicts {
		d.remap[dict] = remaps[i]
	}
	return d
}

// Recode returns a column, coded in one of the loaded dictionaries, in this one,
// and whether its entries had to be copied for that.
func (d *Dictionary) Recode(c *store.Column) (recoded *store.Column, copied bool) {
	remap := d.remap[c.Dict]
	return c.WithDict(d.Dict, remap), remap != nil
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
// dictionary that does not grow: smaller strings have codes below lo, greater ones
// from hi. They are equal if the string is not there.
func (d *Dictionary) Place(s string) (lo, hi int64) {
	lo = int64(d.Dict.LowerBound(s))
	hi = lo
	if _, ok := d.Dict.Lookup(s); ok {
		hi++
	}
	return lo, hi
}
