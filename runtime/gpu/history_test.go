package gpu

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
)

// process runs a plan on a new engine and the go engine, as a process of its
// own would, and returns what the first run on the device did.
func process(t *testing.T, left ObjectCache, plan *queryplan.Plan,
	db *store.Database) *runtime.DeviceProfile {
	t.Helper()
	e, d := card{small: true, left: left, Options: emulated.Options{Seed: 4}}.open(t)
	e.sizes.order, e.sizes.ranked = 2, 16
	answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "after the first run", e, plan, db)
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	return answer.Device
}

// TestHistory has processes that follow others over equal facts replay their
// runs, and those over other facts begin with larger tables.
func TestHistory(t *testing.T) {
	for _, c := range repeated() {
		left := kernelcache.New(filepath.Join(t.TempDir(), "cache"), 1<<20)
		plan, db := enginetest.Stored(t, c.text, c.facts)
		first := process(t, left, plan, db)
		if first.Origin != runtime.NoRun || first.Replayed > 0 || first.Nodes > 0 {
			t.Errorf("%s: the first run is %+v", c.name, first)
		}
		// The facts are loaded anew, so that nothing but their contents is the
		// same.
		plan, db = enginetest.Stored(t, c.text, c.facts)
		second := process(t, left, plan, db)
		if first.Waits < leastWaits && first.Enlarged == 0 {
			if second.Origin != runtime.NoRun {
				t.Errorf("%s: a run of %d waits leaves a record", c.name, first.Waits)
			}
			continue
		}
		if second.Origin != runtime.EarlierProcess || second.Enlarged > 0 || second.Waits > 1 ||
			second.Replayed == 0 {
			t.Errorf("%s: after %+v the second run is %+v", c.name, first, second)
		}
		records, err := filepath.Glob(filepath.Join(left.Dir(), "*.record"))
		if err != nil || len(records) != 1 {
			t.Fatalf("%s: the records are %v, %v", c.name, records, err)
		}
		if err := os.Remove(records[0]); err != nil {
			t.Fatal(err)
		}
		plan, db = enginetest.Stored(t, c.text, c.facts)
		if again := process(t, left, plan, db); again.Origin != runtime.NoRun ||
			again.Replayed > 0 {
			t.Errorf("%s: without the record the run is %+v", c.name, again)
		}
	}
}

// TestHistoryOfOtherFacts has a process over larger facts take the sizes of a
// run over smaller ones in proportion.
func TestHistoryOfOtherFacts(t *testing.T) {
	left := kernelcache.New(filepath.Join(t.TempDir(), "cache"), 1<<20)
	var alone, after [2]*runtime.DeviceProfile
	for i, n := range []int64{40, 44} {
		plan, db := enginetest.Stored(t, spread, apart(n))
		alone[i] = process(t, nil, plan, db)
		after[i] = process(t, left, plan, db)
	}
	if alone[1].Enlarged == 0 || alone[1].Origin != runtime.NoRun {
		t.Fatalf("without a history the run is %+v", alone[1])
	}
	if x := after[1]; x.Origin != runtime.OtherFacts || x.Replayed > 0 ||
		2*x.Enlarged > alone[1].Enlarged || x.Waits >= alone[1].Waits {
		t.Errorf("the run is %+v, without a history %+v", x, alone[1])
	}
	// The records of both facts are there.
	for _, n := range []int64{40, 44} {
		plan, db := enginetest.Stored(t, spread, apart(n))
		if x := process(t, left, plan, db); x.Origin != runtime.EarlierProcess || x.Waits > 1 {
			t.Errorf("the run over %d facts is %+v", n, x)
		}
	}
}

// memory is a store of one process, whose entries tests change.
type memory map[string][]byte

func (m memory) Get(key string) ([]byte, bool) { v, ok := m[key]; return v, ok }
func (m memory) Put(key string, object []byte) { m[key] = object }

// record returns the key of the records of the only program.
func (m memory) record(t *testing.T) string {
	t.Helper()
	for key := range m {
		if strings.HasPrefix(key, "records\x00") {
			return key
		}
	}
	t.Fatal("no run has left a record")
	return ""
}

// TestWrongHistory gives processes the records of other facts as theirs. The
// first run is void and begins again, the answer is right, and the next process
// has a right record.
func TestWrongHistory(t *testing.T) {
	plan, db := enginetest.Stored(t, spread, apart(30))
	_, other := enginetest.Stored(t, spread, apart(33))
	theirs, left := memory{}, memory{}
	process(t, theirs, plan, other)
	process(t, left, plan, db)
	key := left.record(t)
	// The record of the other facts under the digest of these.
	wrong := append([]byte(nil), theirs[key]...)
	own := left[key]
	copy(wrong[1:], own[1:1+1+sha256.Size]) // the number of rows, and the digest
	left[key] = wrong
	// The void run has copied the facts.
	if x := process(t, left, plan, db); x.Replayed > 0 || x.Waits < leastWaits ||
		x.ToDevice.Bytes > 0 || x.Resident == 0 {
		t.Errorf("the run is %+v", x)
	}
	if x := process(t, left, plan, db); x.Origin != runtime.EarlierProcess || x.Waits > 2 {
		t.Errorf("the run after it is %+v", x)
	}
}

// TestDamagedHistory damages what a process has left, at each of its bytes. No
// process fails or has another answer.
func TestDamagedHistory(t *testing.T) {
	plan, db := enginetest.Stored(t, spread, apart(6))
	left := memory{}
	process(t, left, plan, db)
	key := left.record(t)
	whole := left[key]
	step := max(1, len(whole)/12)
	for at := 0; at < len(whole); at += step {
		left[key] = append([]byte(nil), whole...)
		left[key][at] ^= 0x15
		process(t, left, plan, db)
		left[key] = whole[:at]
		if x := process(t, left, plan, db); x.Origin != runtime.NoRun {
			t.Errorf("of a record cut to %d bytes the run is %+v", at, x)
		}
	}
}
