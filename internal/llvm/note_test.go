package llvm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noteOf returns a note of the library that is changed by replacing texts.
func noteOf(t *testing.T, replace ...string) string {
	t.Helper()
	note, ok := library(t).Note()
	if !ok {
		t.Skip("the library's file has no identity on this system")
	}
	return strings.NewReplacer(replace...).Replace(note)
}

// TestRecall has a library that is not open say what the open one says, and
// opens it by each of the calls that compile.
func TestRecall(t *testing.T) {
	opened, note := library(t), noteOf(t)
	for name, compile := range map[string]func(*Library) error{
		"parse": func(l *Library) error {
			m, err := l.ParseIR("add", addSource)
			if err == nil {
				m.Close()
			}
			return err
		},
		"a target machine": func(l *Library) error {
			machine, err := l.NewTargetMachine(l.HostOptions())
			if err == nil {
				machine.Close()
			}
			return err
		},
		"the JIT": func(l *Library) error { return runJIT(l, 3) },
	} {
		l, ok := Recall(note)
		if !ok {
			t.Fatal("the note of a library that is there is refused")
		}
		if l.Path() != opened.Path() || l.Version() != opened.Version() ||
			l.HostOptions() != opened.HostOptions() || l.Key() != opened.Key() {
			t.Errorf("%v is recalled as %v", opened.about, l.about)
		}
		if o, err := l.PTXOptions(80, 0); err != nil || o != machineOptions(t, opened) {
			t.Errorf("the options for PTX are %v, %v", o, err)
		}
		if l.fn.ContextCreate != nil {
			t.Errorf("%s: the library is open before it is needed", name)
		}
		if err := compile(l); err != nil || l.fn.ContextCreate == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRecallRefused takes no note of a library whose file has changed or is
// gone. A file that is replaced between a note and the compilation is an error.
func TestRecallRefused(t *testing.T) {
	opened, note := library(t), noteOf(t)
	for _, bad := range []string{"", "{}", note[:len(note)-1],
		noteOf(t, opened.Is, opened.Is+"0"),
		noteOf(t, opened.File, filepath.Join(t.TempDir(), "libLLVM.so"))} {
		if _, ok := Recall(bad); ok {
			t.Errorf("the note is taken: %s", bad)
		}
	}
	l, ok := Recall(noteOf(t, opened.Build, "another"))
	if !ok {
		t.Fatal("the file is there")
	}
	for range 2 {
		_, err := l.ParseIR("add", addSource)
		var missing *NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), opened.File+": it has just") {
			t.Errorf("got %v", err)
		}
	}
}

// TestPlace holds that the place of a library changes with what decides which
// one is opened.
func TestPlace(t *testing.T) {
	place := func() string {
		t.Helper()
		key, ok := Place()
		if !ok {
			t.Skip("the processor cannot be identified here")
		}
		return key
	}
	t.Setenv(PathVariable, "")
	t.Setenv("LD_LIBRARY_PATH", "")
	seen := map[string]string{}
	isNew := func(what string) {
		t.Helper()
		key := place()
		if key != place() {
			t.Errorf("%s: the place differs from call to call", what)
		}
		if before, ok := seen[key]; ok {
			t.Errorf("%s: the place is as before: %s", what, before)
		}
		seen[key] = what
	}
	isNew("nothing set")
	folder := t.TempDir()
	path := filepath.Join(folder, "libLLVM.so")
	t.Setenv(PathVariable, path)
	isNew("a library that is not there")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	isNew("a library")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	isNew("another library under its name")
	t.Setenv(PathVariable, "")
	t.Setenv("LD_LIBRARY_PATH", folder)
	isNew("a folder")
	if err := os.Chtimes(folder, past, past); err != nil {
		t.Fatal(err)
	}
	isNew("the folder with other files")
}
