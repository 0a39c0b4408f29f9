//go:build linux

package hugepage

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// flags returns what the kernel notes of the memory at an address.
func flags(t *testing.T, at uintptr) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	here := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, until uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &until); n == 2 {
			here = from <= at && at < until
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && here {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("nothing is mapped at %#x", at)
	return nil
}

// TestAdvise wants the kernel to have the advice for all of an array, to the
// first byte, and the array to stay as it is.
func TestAdvise(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip(err)
	}
	s := make([]uint64, 9<<17)
	for i := range s {
		s[i] = uint64(i)
	}
	if got := Advise(s[:5]); len(got) != 5 || &got[0] != &s[0] {
		t.Fatal("not the array")
	}
	for _, i := range []int{0, len(s) / 2, len(s) - 1} {
		at := uintptr(unsafe.Pointer(&s[i]))
		if !slices.Contains(flags(t, at), "hg") || !known(at/regionBytes) {
			t.Errorf("word %d: no advice", i)
		}
	}
	for i, word := range s {
		if word != uint64(i) {
			t.Fatalf("word %d is %d", i, word)
		}
	}
}

// TestAdviseNothing takes arrays without elements.
func TestAdviseNothing(t *testing.T) {
	if Advise[int](nil) != nil || len(Advise(make([]struct{}, leastBytes))) != leastBytes {
		t.Error("not the arrays")
	}
}
