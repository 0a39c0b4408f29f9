package starprog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/starprog"
)

// shown is everything that a program says, SQL included.
func shown(t *testing.T, p *starprog.Program) string {
	t.Helper()
	text := p.Show()
	for _, o := range p.Outputs {
		sql, err := p.AnswerSQL(o)
		if err != nil {
			t.Fatalf("seed %d, program %d: %v\n%s", p.Seed, p.Index, err, p.Text())
		}
		text += sql
	}
	return text
}

func TestProgramsAreDeterminedByTheirSeed(t *testing.T) {
	for seed := range uint64(100) {
		first, second := starprog.New(seed), starprog.New(seed)
		if len(first) != starprog.PerData || len(second) != len(first) {
			t.Fatalf("seed %d gives %d programs, then %d", seed, len(first), len(second))
		}
		for i := range first {
			if shown(t, first[i]) != shown(t, second[i]) {
				t.Fatalf("seed %d gives two programs %d", seed, i)
			}
		}
	}
	if shown(t, starprog.New(1)[0]) == shown(t, starprog.New(2)[0]) {
		t.Error("seeds 1 and 2 give one program")
	}
}

func TestFilesAreDeterminedByTheirSeed(t *testing.T) {
	read := func(seed uint64) map[string][]byte {
		dir := t.TempDir()
		p := starprog.New(seed)[0]
		if err := p.Data.Write(dir, p.AllStored); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 {
			t.Fatalf("seed %d has %d files: %v", seed, len(entries), err)
		}
		out := map[string][]byte{}
		for _, e := range entries {
			if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for seed := range uint64(20) {
		first, second := read(seed), read(seed)
		for name, data := range first {
			if !bytes.Equal(data, second[name]) {
				t.Errorf("seed %d gives two files %s", seed, name)
			}
		}
	}
}

// TestShrink shrinks programs that are said to fail where a fact table has a
// row with a value and a rule aggregates, and wants little else to be left.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := uint64(1); shrunk < 10; seed++ {
		for _, p := range starprog.New(seed) {
			fails := func(q *starprog.Program) bool {
				if _, err := (starprog.BruteForce{Steps: 100_000}).Answer(q); err != nil {
					return false
				}
				rows := q.Data.Table("f1")
				aggregates := 0
				for _, r := range q.Rules {
					aggregates += len(r.Aggs)
				}
				return rows != nil && len(rows.Rows) > 0 && aggregates > 0
			}
			if !fails(p) {
				continue
			}
			before := shown(t, p)
			small := starprog.Shrink(p, fails)
			if shown(t, p) != before {
				t.Fatalf("seed %d: shrinking changes the program it is given", seed)
			}
			rules, literals := len(small.Rules), 0
			for _, r := range small.Rules {
				literals += len(r.Body)
			}
			if rules > 4 || literals > 6 || len(small.Data.Tables) > 3 ||
				len(small.Data.Table("f1").Rows) != 1 || len(small.Disable) > 0 || small.NoFuse {
				t.Errorf("seed %d, program %d is shrunk to\n%s", seed, p.Index, small.Show())
			}
			shrunk++
		}
	}
}
