package pool

import (
	"maps"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/runtime/store"
)

// Keepers lists the pools whose engines may keep copies of facts. It does not
// keep the pools reachable. The zero value is empty.
type Keepers struct {
	mu    sync.Mutex
	pools map[weak.Pointer[Pool]]bool
}

// Add lists a pool. It returns a function that frees the copies in the pool,
// for when the facts are garbage; nil if the pool was listed before.
func (k *Keepers) Add(p *Pool) func(*store.Database) {
	keeper := weak.Make(p)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pools[keeper] {
		return nil
	}
	if k.pools == nil {
		k.pools = map[weak.Pointer[Pool]]bool{}
	}
	maps.DeleteFunc(k.pools, func(p weak.Pointer[Pool], _ bool) bool { return p.Value() == nil })
	k.pools[keeper] = true
	return func(facts *store.Database) {
		if p := keeper.Value(); p != nil {
			p.Forget(facts)
		}
	}
}
