package recursive

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestFacts makes facts twice, and holds that they are equal, and those of
// another seed are not.
func TestFacts(t *testing.T) {
	for name, facts := range map[string]func(int, uint64) Facts{
		"Doop": Doop, "CRDT": CRDT, "Polonius": Polonius,
	} {
		f := facts(70, 1)
		if f.Count() < 100 || !reflect.DeepEqual(f, facts(70, 1)) {
			t.Errorf("%s: equal arguments give other facts, or too few", name)
		}
		if reflect.DeepEqual(f, facts(70, 2)) {
			t.Errorf("%s: another seed gives equal facts", name)
		}
	}
}

// TestWriteDoop holds that the facts of a program that is written as it is made
// are those of Doop, in any number of parts.
func TestWriteDoop(t *testing.T) {
	for _, packages := range []int{1, doopPart, 2*doopPart + 1} {
		whole, parts := t.TempDir(), t.TempDir()
		facts := Doop(packages, 3)
		if err := facts.Write(whole); err != nil {
			t.Fatal(err)
		}
		if err := WriteDoop(parts, packages, 3); err != nil {
			t.Fatal(err)
		}
		for name := range facts {
			want, err := os.ReadFile(filepath.Join(whole, name+".tsv"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(parts, name+".tsv"))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d packages: other facts of %s, %v", packages, name, err)
			}
		}
	}
	if err := WriteDoop(filepath.Join(t.TempDir(), "none"), 200, 1); err == nil {
		t.Error("there is no error where the folder is missing")
	}
}

func TestStratum(t *testing.T) {
	s := Stratum{Rules: 3, Tokens: 2, Rounds: 4}
	if n := strings.Count(s.Program(), ", next("); n != s.Rules {
		t.Errorf("%d recursive rules", n)
	}
	if f := s.Facts(); len(f["start"]) != 2 || len(f["next"]) != 4 || s.Tuples() != 10 {
		t.Errorf("%v, %d tuples", f, s.Tuples())
	}
}
