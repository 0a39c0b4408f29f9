package driver

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTransactionFolders runs the programs of testdata/transactions: first
// program.logic over facts, then the files whose names begin with a number. The
// word behind the number says what becomes of a file: exec and add must
// succeed, fails must be rolled back. What holds at the end is in expected.
func TestTransactionFolders(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/transactions/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	inSessions(t, func(t *testing.T, s *Session) {
		for _, dir := range dirs {
			t.Run(filepath.Base(dir), func(t *testing.T) { runTransactions(t, s, dir) })
		}
	})
}

func runTransactions(t *testing.T, s *Session, dir string) {
	ctx := context.Background()
	program, err := ReadSources(filepath.Join(dir, "program.logic"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.OpenWorkspace(ctx, program, NewFacts().Dir(filepath.Join(dir, "facts")), Options{},
		RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := filepath.Glob(filepath.Join(dir, "[0-9]*.logic"))
	if err != nil || len(steps) == 0 {
		t.Fatalf("no transactions: %v", err)
	}
	for _, file := range steps {
		_, kind, _ := strings.Cut(filepath.Base(file), "-")
		kind, _, _ = strings.Cut(kind, "-")
		sources, err := ReadSources(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Exec(ctx, w, Transaction{Sources: sources, Install: kind == "add"}, RunOptions{})
		var wrong *ProgramError
		if kind == "fails" && !errors.As(err, &wrong) || kind != "fails" && err != nil {
			t.Fatalf("%s: the error is %v", file, err)
		}
	}
	checkExpected(t, s, w, dir)
}

// checkExpected compares what a workspace holds with the folder's expectation.
func checkExpected(t *testing.T, s *Session, w *Workspace, dir string) {
	t.Helper()
	ctx := context.Background()
	files, err := filepath.Glob(filepath.Join(dir, "expected", "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is expected: %v", err)
	}
	for _, file := range files {
		pred := strings.TrimSuffix(filepath.Base(file), ".tsv")
		res, err := s.Read(ctx, w, RunOptions{Outputs: []string{pred}})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := res.Write(&got, pred, TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s is\n%s, want\n%s", pred, got.String(), want)
		}
	}
}
