package redfox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSession runs a program twice over facts, once over none, and closes.
func TestSession(t *testing.T) {
	ctx := context.Background()
	p := program(t, "n(x) -> int(x).\nm(x + 1) <- n(x).\n")
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "n.tsv")
	if err := os.WriteFile(file, []byte("1\nx\n3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := s.Load(ctx, p, NewFacts().File("n", file), LoadOptions{SkipMalformed: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := db.Report(); r.Rows != 2 || r.Skipped != 1 || db.Bytes() == 0 {
		t.Errorf("%+v, %d bytes", r, db.Bytes())
	}
	for _, tt := range []struct {
		db   *Database
		want int64
	}{{db, 2}, {db, 2}, {nil, 0}} {
		res, err := s.Run(ctx, p, tt.db, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := res.Len("m"); n != tt.want || err != nil || res.Stats.Engine != EngineGo {
			t.Errorf("%d tuples on engine %s, %v", n, res.Stats.Engine, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var closed *EnvironmentError
	if _, err := s.Run(ctx, p, db, RunOptions{}); !errors.As(err, &closed) {
		t.Errorf("%T %v", err, err)
	}
}

// TestEngineNames wants the constants to be the names that Engines lists.
func TestEngineNames(t *testing.T) {
	var names []string
	for _, e := range Engines() {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != EngineGPU+" "+EngineCPU+" "+EngineGo {
		t.Error(got)
	}
}
