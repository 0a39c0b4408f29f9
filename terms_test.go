package redfox

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const people = `
person(p) -> .
named[n, k] = p -> string(n), int(k), person(p).
lang:constructor(` + "`" + `named).
child[p, q] = c -> person(p), person(q), person(c).
lang:constructor(` + "`" + `child).
likes(p, q) -> person(p), person(q).
age[p] = n -> person(p), int(n).
friend(p, q) <- likes(p, q), likes(q, p).
old(p) <- age[p] > 60.
parent(p) <- child[p, _] = _.
`

// TestTermsAsFacts names entities in facts of every source, and gives the
// results of one run to another as facts.
func TestTermsAsFacts(t *testing.T) {
	ctx := context.Background()
	p := program(t, people)
	s, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	type tuple struct{ P, Q string }
	ann, bob := `named["ann", 1]`, `named["bob", 2]`
	eve := `child[` + ann + `, ` + bob + `]`
	facts := NewFacts().Rows("likes", []any{ann, bob}, []any{bob, ann}).
		Structs("likes", []tuple{{eve, ann}, {ann, eve}}).
		Columns("age", []string{ann, eve}, []int64{70, 3})
	want := []tuple{{eve, ann}, {ann, bob}, {ann, eve}, {bob, ann}}
	for range 2 {
		db, err := s.Load(ctx, p, facts, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(ctx, p, db, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Scan[tuple](res, "friend")
		if err != nil || !reflect.DeepEqual(sorted(got), sorted(want)) {
			t.Fatalf("%v, %v", got, err)
		}
		for pred, only := range map[string]string{"old": ann, "parent": ann} {
			if got, err := Scan[string](res, pred); err != nil || len(got) != 1 || got[0] != only {
				t.Fatalf("%s is %v, %v", pred, got, err)
			}
		}
		facts = NewFacts().Structs("likes", got).Columns("age", []string{ann}, []int64{70})
	}
}

func sorted[T any](list []T) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}

// TestWrongTermsAsFacts wants the places of fields that are no terms.
func TestWrongTermsAsFacts(t *testing.T) {
	p := program(t, people)
	for _, tt := range []struct {
		facts *Facts
		want  []string
	}{
		{NewFacts().Reader("likes", TSV, strings.NewReader("named[\"a\", 1]\tnamed[\"b\"]\n")),
			[]string{"a fact of likes: q", `expected ","`}},
		{NewFacts().Rows("likes", []any{`named["a", 1]`, "bob"}),
			[]string{"a fact of likes: q", `"bob" is no entity of person`}},
		{NewFacts().Rows("age", []any{`named["a", 1]`, 1}, []any{`named["a",1]`, 2}),
			[]string{`age["named[\"a\", 1]"] has two values`}},
		{NewFacts().Rows("likes", []any{1, 2}), []string{"row 1", "likes"}},
	} {
		_, err := p.Run(context.Background(), tt.facts, RunOptions{})
		var wrong *ProgramError
		if !errors.As(err, &wrong) {
			t.Fatalf("%T %v", err, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v lacks %s", err, want)
			}
		}
	}
}
