package read

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Partner is an argument of a predicate that another argument is joined with.
type Partner struct {
	Pred string
	Arg  int
}

// Join sets the arguments that other arguments are joined with. Rows whose
// value does not occur in a partner are not wanted. Load reads partners first.
// If it has left out rows of a partner's file, it tests the values of a Parquet
// file against the remaining values.
func (b *Binding) Join(partners func(pred string, arg int) []Partner) {
	for i := range b.Sources {
		if b.IsPart(i) {
			continue
		}
		for j := range b.Sources[i].Uses {
			u := &b.Sources[i].Uses[j]
			u.Partners = make([][]Partner, len(u.Columns))
			for arg := range u.Columns {
				u.Partners[arg] = partners(u.Schema.Name, arg)
			}
		}
	}
}

// joins reports whether rows may be left out because they have no partner.
func (u *Use) joins() bool {
	return slices.ContainsFunc(u.Partners, func(list []Partner) bool { return len(list) > 0 })
}

// hasPartners reports whether a source of the binding has arguments with
// partners.
func (b *Binding) hasPartners() bool {
	return slices.ContainsFunc(b.Sources, func(s Source) bool {
		return slices.ContainsFunc(s.Uses, func(u Use) bool { return u.joins() })
	})
}

// nextOf returns the index in list of the source to load next. If arguments
// have partners, it is the one with the fewest expected rows.
func (b *Binding) nextOf(list []int, known *partnerSets) int {
	best, fewest := 0, math.Inf(1)
	if !b.hasPartners() {
		return best
	}
	for at, i := range list {
		if rows := known.estimate(&b.Sources[i]); rows < fewest {
			best, fewest = at, rows
		}
	}
	return best
}

// passing is the share of rows that are assumed to pass comparisons.
const passing = 0.2

// estimate returns about how many rows of a source will be loaded.
func (p *partnerSets) estimate(s *Source) float64 {
	rows, _ := s.Rows()
	share, asked := 1.0, false
	for _, u := range s.Uses {
		asked = asked || u.asked()
		for _, list := range u.Partners {
			for _, partner := range list {
				if known, ok := p.shares[partner]; ok {
					share = min(share, known)
				}
			}
		}
	}
	if asked {
		share *= passing
	}
	return share * float64(rows)
}

// partnerSets builds sets of the values of loaded partners.
type partnerSets struct {
	columns map[Partner]*store.Column // those with fewer values than their file has
	shares  map[Partner]float64       // of the file's rows
	sets    map[*store.Column]*wordSet
	ledger  *store.Ledger
}

// mostJoined is the largest share of a partner's rows for which a test against
// them pays.
const mostJoined = 0.3

func newPartnerSets(ledger *store.Ledger) *partnerSets {
	return &partnerSets{map[Partner]*store.Column{}, map[Partner]float64{},
		map[*store.Column]*wordSet{}, ledger}
}

// add records the relations of a loaded source.
func (p *partnerSets) add(rels []*store.Relation, report *FileReport, always bool) {
	share := float64(report.Kept) / float64(max(1, report.Rows))
	if !report.Selected || share > mostJoined && !always {
		return
	}
	for _, r := range rels {
		for arg, c := range r.Columns() {
			if isWord(c.Type) && !c.Absent && c.Late == nil {
				p.columns[Partner{r.Name, arg}], p.shares[Partner{r.Name, arg}] = c, share
			}
		}
	}
}

// isWord reports whether values of a type are equal exactly if their words are,
// in all columns.
func isWord(t scalar.Type) bool {
	return t.Word == scalar.Whole &&
		(t.Kind == scalar.Int || t.Kind == scalar.Decimal || t.Kind == scalar.Datetime)
}

// tested returns a source whose uses test for the partners that are known.
func (p *partnerSets) tested(s *Source) *Source {
	if len(p.columns) == 0 || !slices.ContainsFunc(s.Uses, func(u Use) bool { return u.joins() }) {
		return s
	}
	out := *s
	out.Uses = slices.Clone(s.Uses)
	for i := range out.Uses {
		u := &out.Uses[i]
		for arg, list := range u.Partners {
			var sets []*wordSet
			for _, partner := range list {
				c := p.columns[partner]
				if c == nil || c.Type != u.Schema.Args[arg].Type {
					continue
				}
				if set := p.set(c); set != nil {
					sets = append(sets, set)
				}
			}
			if len(sets) > 0 {
				u.Tests = slices.Concat(u.Tests, make([]*Test, len(u.Columns)-len(u.Tests)))
				u.Tests[arg] = u.Tests[arg].among(sets)
			}
		}
	}
	return &out
}

// among returns a test that a word passes if it passes t and is in all sets. A
// nil t passes everything.
func (t *Test) among(sets []*wordSet) *Test {
	out := Test{Range: true, Least: math.MinInt64, Most: math.MaxInt64}
	if t != nil {
		out = *t
	}
	out.Alone, out.sets = false, sets
	for _, s := range sets {
		out.Least, out.Most = max(out.Least, s.least), min(out.Most, s.most)
	}
	return &out
}

// set returns the set of the words of a column, or nil if it would be large or
// there is no memory for it.
func (p *partnerSets) set(c *store.Column) *wordSet {
	set, ok := p.sets[c]
	if !ok {
		bits := setSize(c)
		if bits >= 0 && p.ledger.Take("the values of a join", bits/8) == nil {
			set = newWordSet(c)
		}
		p.sets[c] = set
	}
	return set
}

// wordSet is a set of words as a bitmap of the range from least to most.
type wordSet struct {
	least, most int64 // of an empty set, most is less
	bits        []uint64
}

// A set has at most setBits bits for each row of its column, or smallSet bits.
const (
	setBits  = 256
	smallSet = 1 << 23
)

// setSize returns the number of bits in the set of a column's words, or -1 if
// the range of the words is too large.
func setSize(c *store.Column) int64 {
	n := c.Len()
	if n == 0 {
		return 0
	}
	span := uint64(c.Stats.Max) - uint64(c.Stats.Min)
	if span >= max(smallSet, setBits*uint64(n)) {
		return -1
	}
	return int64(span/64+1) * 64
}

// newWordSet returns the set of a column's words.
func newWordSet(c *store.Column) *wordSet {
	n := c.Len()
	if n == 0 {
		return &wordSet{least: math.MaxInt64, most: math.MinInt64}
	}
	s := &wordSet{least: c.Stats.Min, most: c.Stats.Max, bits: make([]uint64, setSize(c)/64)}
	words := make([]int64, min(n, int(batchRows)))
	for from := 0; from < n; from += len(words) {
		part := words[:min(len(words), n-from)]
		c.Read(part, from)
		for _, w := range part {
			at := uint64(w - s.least)
			s.bits[at/64] |= 1 << (at % 64)
		}
	}
	return s
}

// has reports whether a word is in the set.
func (s *wordSet) has(w int64) bool {
	at := uint64(w) - uint64(s.least)
	return at/64 < uint64(len(s.bits)) && s.bits[at/64]>>(at%64)&1 != 0
}

// keep clears the marks of words that are not in the set.
func (s *wordSet) keep(words []int64, marks []bool) {
	for i, w := range words {
		marks[i] = marks[i] && s.has(w)
	}
}
