package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGeneratedIsCurrent compares types.go with what the generator writes.
func TestGeneratedIsCurrent(t *testing.T) {
	want, err := generate(modelText)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../types.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("types.go is not current: run go generate ./frontend/lsp/protocol")
	}
}

// TestUnknownType refuses a model that lacks a type.
func TestUnknownType(t *testing.T) {
	_, err := generate([]byte(`{"structures": [{"name": "A", "properties": [
		{"name": "b", "type": {"kind": "reference", "name": "B"}}]}]}`))
	if err == nil || err.Error() != "A.b: the model does not define B" {
		t.Errorf("got %v", err)
	}
}
