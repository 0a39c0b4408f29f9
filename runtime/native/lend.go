package native

import "unsafe"

// Alloc lends words that are accounted for: it makes memory an order.Allocator.
func (m *memory) Alloc(what string, n int) ([]uint64, error) {
	r := &region{}
	if err := r.alloc(m, what, 8*n); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lent == nil {
		m.lent = map[*uint64]*region{}
	}
	w := words(r)[:n]
	m.lent[&w[0]] = r
	return w, nil
}

// Free takes back what Alloc returned.
func (m *memory) Free(words []uint64) {
	m.mu.Lock()
	r := m.lent[unsafe.SliceData(words)]
	delete(m.lent, unsafe.SliceData(words))
	m.mu.Unlock()
	r.free()
}
