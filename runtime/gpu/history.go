package gpu

import (
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/buildid"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/store"
)

const (
	// digestedBytes bounds the facts, in bytes for each thread, that are
	// digested so that a later process may replay the run. Digesting them takes
	// less time than opening the device.
	digestedBytes = 32 << 20
	// leastWaits is the number of waits from which a replay saves more time
	// than storing a record costs.
	leastWaits = 16
)

// openHistory returns the records that earlier processes have left for a kernel
// graph, or nil if there is no cache.
func (e *Engine) openHistory(graph *harmony.Program) *replay.History {
	if e.opts.Cache == nil {
		return nil
	}
	// Another build may launch other kernels for the same graph.
	build, err := buildid.Get()
	if err != nil {
		return nil
	}
	key := strings.Join([]string{"records", build, e.architecture,
		strconv.Itoa(e.info.Attributes.Multiprocessors), graph.String()}, "\x00")
	return replay.OpenHistory(e.opts.Cache, key, graph)
}

// digest starts to digest the facts, unless they are too large.
func (b *boundFacts) digest(facts *store.Database, threads int) {
	if storedBytes(facts) > digestedBytes*int64(threads) || facts.EncodedBytes() > 0 {
		return
	}
	b.digested = make(chan struct{})
	go func() {
		defer close(b.digested)
		b.identity.Digest = facts.Digest(threads)
	}()
}

// factsDigested returns the identity of the facts. It waits for their digest.
func (b *boundFacts) factsDigested() replay.Facts {
	if b.digested != nil {
		<-b.digested
	}
	return b.identity
}

// recall loads the record that an earlier process has left for the same facts,
// if there is one, and has the pool allocate the memory of that run. Concurrent
// calls wait until the first one has finished.
func (e *Engine) recall(b *boundFacts) {
	b.recalling.Do(func() {
		if b.digested == nil || !b.history.HasRecords() {
			return
		}
		peak := b.history.Recall(b.record, b.factsDigested())
		if peak == 0 || e.waitOpen() != nil {
			return
		}
		// Errors are ignored here; the run reports them.
		if l, err := e.lanes.Take(); err == nil {
			_ = e.mem.Warm(l.Stream, peak)
			e.lanes.Give(l)
		}
	})
}

// saveRecord stores the run's record for later processes, if a replay saves
// them time.
func (r *run) saveRecord() {
	b := r.facts
	if b.history == nil {
		return
	}
	if r.Waits >= leastWaits || r.Enlarged > 0 || r.record.NeedsLess(r.Steady) {
		b.history.Leave(r.record, b.factsDigested(), r.Steady)
	}
}

// storedBytes returns the size of all columns and dictionaries of facts, in
// bytes. Each counts once.
func storedBytes(facts *store.Database) (n int64) {
	tables, dicts := map[*store.Table]bool{}, map[*store.Dict]bool{}
	for _, rel := range facts.Relations() {
		if tables[rel.Table] {
			continue
		}
		tables[rel.Table] = true
		for _, c := range rel.Table.Columns {
			n += c.Bytes()
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				n += c.Dict.Bytes() + c.Dict.AddedBytes()
			}
		}
	}
	return n
}
