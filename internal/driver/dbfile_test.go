package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// reopened opens a database anew, with facts of predicates that it lacks.
func reopened(t *testing.T, s *Session, path string, write bool, facts ...*Facts) *bench {
	t.Helper()
	opts := OpenDatabaseOptions{Write: write}
	if len(facts) > 0 {
		opts.Facts = facts[0]
	}
	w, err := s.OpenDatabase(context.Background(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, s, w}
}

func (b *bench) close() {
	b.Helper()
	if err := b.w.Close(); err != nil {
		b.Fatal(err)
	}
}

// TestDatabaseOfTransactions holds random transactions against the books, with
// the database opened anew between them.
func TestDatabaseOfTransactions(t *testing.T) {
	inSessions(t, func(t *testing.T, s *Session) {
		ctx := context.Background()
		steps := 6
		if s.options.Engine == EngineGo {
			steps = 60
		}
		path := filepath.Join(t.TempDir(), "ledger.rfdb")
		w, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{Write: true,
			Sources: []Source{Text("ledger.logic", ledger)},
			Facts:   NewFacts().Rows("e", []any{0, 1}, []any{1, 2})})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t, s, w}
		now := books{map[pair]bool{{0, 1}: true, {1, 2}: true}, map[int]int{}, map[int]bool{},
			map[pair]bool{}, map[int]bool{}}
		r := rand.New(rand.NewPCG(11, uint64(steps)))
		for i := range steps {
			text, in, late := now.draw(r)
			after, done := now.post(in, late)
			_, err := b.exec(text, false)
			var wrong *ProgramError
			if done != (err == nil) || err != nil && !errors.As(err, &wrong) {
				t.Fatalf("step %d: done is %t, and the error %v, of\n%s", i, done, err, text)
			}
			now = after
			if r.IntN(3) == 0 {
				b.close()
				b = reopened(t, s, path, true)
			}
			want := now.contents()
			// A reader sees the latest transaction while the writer goes on.
			for _, of := range []*bench{b, reopened(t, s, path, false)} {
				got := of.read(slices.Sorted(maps.Keys(want))...)
				for pred := range want {
					if got[pred] != want[pred] {
						t.Fatalf("step %d: %s is %s, want %s, after\n%s", i, pred, got[pred],
							want[pred], text)
					}
				}
			}
		}
		b.close()
		f, err := rfdb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := f.Check(ctx, 0); err != nil || len(found) > 0 {
			t.Errorf("the check finds %v, %v", found, err)
		}
	})
}

// TestDatabaseFolders runs the programs of testdata/transactions in databases
// that are opened anew before each transaction.
func TestDatabaseFolders(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/transactions/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.rfdb")
			program, err := ReadSources(filepath.Join(dir, "program.logic"))
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{Sources: program,
				Facts: NewFacts().Dir(filepath.Join(dir, "facts"))})
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{t, s, w}
			files, _ := filepath.Glob(filepath.Join(dir, "[0-9]*.logic"))
			for _, file := range files {
				b.close()
				b = reopened(t, s, path, true, NewFacts().Dir(filepath.Join(dir, "facts")))
				_, kind, _ := strings.Cut(filepath.Base(file), "-")
				kind, _, _ = strings.Cut(kind, "-")
				sources, err := ReadSources(file)
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Exec(ctx, b.w, Transaction{Sources: sources, Install: kind == "add"},
					RunOptions{})
				if (kind == "fails") != (err != nil) {
					t.Fatalf("%s: the error is %v", file, err)
				}
			}
			b.close()
			b = reopened(t, s, path, false)
			checkExpected(t, s, b.w, dir)
		})
	}
}

// TestDatabaseOfFacts installs a program in a database of facts: those of other
// predicates stay, for what is added later.
func TestDatabaseOfFacts(t *testing.T) {
	ctx := context.Background()
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	path := filepath.Join(t.TempDir(), "shop.rfdb")
	p, err := Compile(ctx, []Source{Text("p.logic", `stock[x] = n -> string(x), int(n).
		price[x] = n -> string(x), int(n). all(x) <- stock[x] = _. all(x) <- price[x] = _.`)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts := NewFacts().Rows("stock", []any{"pear", 3}).Rows("price", []any{"pear", 9})
	if _, err := p.Store(ctx, facts, path, LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	var environment *EnvironmentError
	if _, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{}); !errors.As(err, &environment) ||
		!strings.Contains(err.Error(), "no program") {
		t.Errorf("the error without a program is %v", err)
	}
	w, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{Write: true, Sources: []Source{
		Text("q.logic", `stock[x] = n -> string(x), int(n). left(x, n) <- stock[x] = n, n > 1.`)}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, s, w}
	b.wants("pear3", b.read("left"), "left")
	if _, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{Write: true}); err == nil ||
		!strings.Contains(err.Error(), "another process is writing") {
		t.Errorf("the error of a second writer is %v", err)
	}
	b.must(`^stock["pear"] = 2. +stock["plum"] = 5.`)
	b.close()
	b = reopened(t, s, path, true)
	if _, err := b.exec(`price[x] = n -> string(x), int(n).
		worth[x] = n * m <- stock[x] = n, price[x] = m.`, true); err != nil {
		t.Fatal(err)
	}
	b.close()
	b = reopened(t, s, path, false)
	b.wants("pear18", b.read("worth"), "worth")
	// A transaction that only asks writes nothing, so that a reader may run it.
	if got, err := b.exec(`_(x) <- stock[x] = _.`, false); err != nil || got["_"] != "pear; plum" {
		t.Errorf("a query of a reader is %v, %v", got, err)
	}
	if _, err := b.exec(`+stock["fig"] = 1.`, false); err == nil ||
		!strings.Contains(err.Error(), "open for reading") {
		t.Errorf("the error of a transaction of a reader is %v", err)
	}
	if _, err := s.OpenDatabase(ctx, path, OpenDatabaseOptions{Sources: []Source{
		Text("r.logic", `a(1).`)}}); err == nil || !strings.Contains(err.Error(), "a program already") {
		t.Errorf("the error of a second program is %v", err)
	}
}

// TestDatabaseThatFails leaves no file of a program that fails.
func TestDatabaseThatFails(t *testing.T) {
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	path := filepath.Join(t.TempDir(), "x.rfdb")
	for i, text := range []string{`p(x) <- q(x, y.`, `p(1). p(x) -> x > 1. p(x) -> int(x).`} {
		_, err = s.OpenDatabase(context.Background(), path, OpenDatabaseOptions{
			Sources: []Source{Text(fmt.Sprintf("%d.logic", i), text)}})
		var wrong *ProgramError
		if !errors.As(err, &wrong) {
			t.Errorf("the error is %v", err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("there is a file")
		}
	}
}
