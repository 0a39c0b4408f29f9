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
	// digestedBytes is how many bytes of facts for each thread are digested so
	// that a later process may replay the run. They take less time than the
	// device takes to open.
	digestedBytes = 32 << 20
	// leastWaits is the number of waits from which a replay saves more than a
	// record costs.
	leastWaits = 16
)

// openHistory returns what earlier processes have left for a graph, or nil if
// there is no cache.
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

// digest begins to digest the facts, if that is worth it.
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

// recall makes the record one that an earlier process has left over the same
// facts, if there is one, and has the device make that run's memory available.
// Later calls wait until the first one is done.
func (e *Engine) recall(b *boundFacts) {
	b.recalling.Do(func() {
		if b.digested == nil || !b.history.HasRecords() {
			return
		}
		peak := b.history.Recall(b.record, b.factsDigested())
		if peak == 0 || e.isOpen() != nil {
			return
		}
		// An error is ignored here; the run reports it.
		if l, err := e.lanes.Take(); err == nil {
			_ = e.mem.Warm(l.Stream, peak)
			e.lanes.Give(l)
		}
	})
}

// leave keeps what the run has found out for later processes, if that saves
// them time.
func (r *run) leave() {
	b := r.facts
	if b.history == nil {
		return
	}
	if r.Waits >= leastWaits || r.Enlarged > 0 || r.record.NeedsLess(r.Steady) {
		b.history.Leave(r.record, b.factsDigested(), r.Steady)
	}
}

// columnBytes is the size of the columns of relations, those of a table that
// several have as often.
func columnBytes(facts *store.Database) (n int64) {
	if facts == nil {
		return 0
	}
	for _, rel := range facts.Relations() {
		for _, c := range rel.Cols {
			n += rel.Table.Columns[c].Bytes()
		}
	}
	return n
}

// storedBytes is the size of all columns and dictionaries of facts.
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
