package store

import (
	"errors"
	"strconv"
	"testing"
)

// TestDerived computes once what is asked for again, and forgets what is asked
// for least.
func TestDerived(t *testing.T) {
	d := NewDict([]string{"a", "b"})
	computed := 0
	get := func(key string) any {
		v, err := d.Derived(key, func() (any, error) { computed++; return key + "!", nil })
		if err != nil || v != key+"!" {
			t.Fatalf("%s: %v, %v", key, v, err)
		}
		return v
	}
	get("x")
	for i := range 3 * maxDerived {
		get(strconv.Itoa(i))
		get("x")
	}
	if want := 1 + 3*maxDerived; computed != want {
		t.Errorf("computed %d times, want %d", computed, want)
	}
	get("0")
	if want := 2 + 3*maxDerived; computed != want {
		t.Errorf("computed %d times, want %d: the first is kept for ever", computed, want)
	}
	failure := errors.New("failure")
	for range 2 {
		if _, err := d.Derived("y", func() (any, error) { return nil, failure }); err != failure {
			t.Errorf("the error is %v", err)
		}
	}
	get("y")
}

// TestDerivedOfGrown keeps nothing of a dictionary that grows.
func TestDerivedOfGrown(t *testing.T) {
	d := NewDict([]string{"a"})
	d.Intern("b")
	for i := range 2 {
		if v, err := d.Derived("x", func() (any, error) { return i, nil }); v != i || err != nil {
			t.Errorf("got %v, %v, want %d", v, err, i)
		}
	}
}
