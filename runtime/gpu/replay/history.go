package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
)

// Store stores bytes under keys, as package kernelcache does.
type Store interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

const (
	// keptPasts is the number of databases for which a program keeps a record
	// on disk.
	keptPasts = 4
	// mostWritten bounds how often a process writes the records of a program,
	// because each of its runs may see other facts.
	mostWritten = 16
)

// History is what runs of a program leave for later processes: the sizes of its
// variables, and records over the last few databases. A nil *History is empty.
// It is safe for concurrent use.
//
// A record is replayed over equal facts only, and a run whose counters differ
// from it is void. So a wrong record costs time but changes no answer. Sizes
// are hints for runs over other facts.
type History struct {
	store     Store
	key       string
	variables []harmony.Managed // the variables with sizes, in graph order

	mu      sync.Mutex
	pasts   []*past // most recent first
	written int
}

// OpenHistory returns what earlier processes have left for a program. key must
// name everything that records depend on besides the facts.
func OpenHistory(s Store, key string, graph *harmony.Program) *History {
	h := &History{store: s, key: key}
	for _, r := range graph.Relations {
		h.variables = append(h.variables, r)
	}
	for _, g := range graph.Groups {
		h.variables = append(h.variables, g)
	}
	h.pasts = h.read()
	return h
}

// read returns what the store has. It ignores anything that write has not
// written.
func (h *History) read() (all []*past) {
	data, ok := h.store.Get(h.key)
	if !ok {
		return nil
	}
	r := reader{rest: data}
	for n := r.length(); len(all) < n && len(all) < keptPasts; {
		p := r.past(len(h.variables))
		if r.bad {
			return nil
		}
		all = append(all, p)
	}
	if r.bad || len(r.rest) > 0 {
		return nil
	}
	return all
}

// write stores the pasts.
func (h *History) write() {
	data := binary.AppendUvarint(nil, uint64(len(h.pasts)))
	for _, p := range h.pasts {
		data = p.append(data)
	}
	if len(data) > mostPast {
		h.pasts = h.pasts[:1]
		if data = h.pasts[0].append([]byte{1}); len(data) > mostPast {
			return
		}
	}
	h.store.Put(h.key, data)
}

// HasRecords reports whether there is a record over any facts.
func (h *History) HasRecords() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pasts {
		if p.facts.Digest != ([sha256.Size]byte{}) {
			return true
		}
	}
	return false
}

// Hints returns sizes for facts of rows rows that no run is known over: those
// of the last run, scaled by the number of rows. It returns nil if there was no
// run.
func (h *History) Hints(rows int64) *Sizes {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pasts) == 0 {
		return nil
	}
	p := h.pasts[0]
	hints := NewSizes()
	hints.guessed = true
	for i, v := range h.variables {
		size := p.sizes[i]
		if was := p.facts.Rows; was > 0 {
			size.Rows = int64(float64(size.Rows) * float64(rows) / float64(was))
		}
		hints.all[v] = size
	}
	return hints
}

// Recall loads into r the record that an earlier process has left over the same
// facts, if there is one and no run of this process has left a newer one. It
// returns the device memory that the run needed, in bytes, or 0.
func (h *History) Recall(r *Record, facts Facts) (peak int64) {
	if h == nil || facts.Digest == ([sha256.Size]byte{}) {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers != nil || r.differs || !r.lasts {
		return 0
	}
	for _, p := range h.pasts {
		if p.facts != facts {
			continue
		}
		d := parseDetail(p.rest)
		if d == nil {
			return 0
		}
		r.numbers, r.slab, r.launches, r.recalled = d.numbers, d.slab, d.launches, true
		r.peak = p.peak
		sizes := NewSizes()
		for i, v := range h.variables {
			sizes.all[v] = p.sizes[i]
		}
		r.Sizes = sizes
		return p.peak
	}
	return 0
}

// Leave stores the record of a run over facts for later processes. peak is the
// device memory that the run needed, in bytes.
func (h *History) Leave(r *Record, facts Facts, peak int64) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &past{facts: facts, sizes: make([]Size, len(h.variables))}
	r.mu.Lock()
	for i, v := range h.variables {
		p.sizes[i] = r.Sizes.Of(v)
	}
	if facts.Digest != ([sha256.Size]byte{}) && r.lasts {
		r.peak, p.peak = peak, peak
		p.rest = (&detail{r.slab, r.launches, r.numbers}).bytes()
	}
	r.mu.Unlock()
	if h.written == mostWritten {
		return
	}
	h.written++
	list := []*past{p}
	for _, o := range h.pasts {
		if o.facts != facts && len(list) < keptPasts {
			list = append(list, o)
		}
	}
	h.pasts = list
	h.write()
}
