package driver

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProjects runs the projects of testdata/projects: what they derive is in
// expected, and in after/BLOCK once an inactive block has been executed.
func TestProjects(t *testing.T) {
	projects, err := filepath.Glob("../../testdata/projects/*/*.project")
	if err != nil || len(projects) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	for _, path := range projects {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			inSessions(t, func(t *testing.T, s *Session) { runProject(t, s, dir, path) })
		})
	}
}

func runProject(t *testing.T, s *Session, dir, path string) {
	ctx := context.Background()
	sources, err := ReadSources(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.OpenWorkspace(ctx, sources, NewFacts().Allow(dir), Options{}, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compareContents(t, s, w, filepath.Join(dir, "expected"))
	blocks, err := filepath.Glob(filepath.Join(dir, "after", "*"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no inactive block: %v", err)
	}
	for _, after := range blocks {
		change := Transaction{Block: filepath.Base(after)}
		if _, err := s.Exec(ctx, w, change, RunOptions{}); err != nil {
			t.Fatal(err)
		}
		compareContents(t, s, w, after)
	}
}

// compareContents holds the contents of a workspace against files.
func compareContents(t *testing.T, s *Session, w *Workspace, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", dir, err)
	}
	opts := RunOptions{}
	for _, f := range files {
		opts.Outputs = append(opts.Outputs, strings.TrimSuffix(filepath.Base(f), ".tsv"))
	}
	res, err := s.Read(context.Background(), w, opts)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := res.Write(&got, opts.Outputs[i], TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s is\n%swant\n%s", f, &got, want)
		}
	}
}
