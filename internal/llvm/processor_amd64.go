package llvm

import "fmt"

// cpuid runs the instruction for a leaf and a subleaf.
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// xgetbv returns which registers the system keeps for a thread.
func xgetbv() (low, high uint32)

// processor identifies this kind of processor by what LLVM looks at to choose a
// model and its features. Words that differ between the cores of one processor
// are left out.
func processor() string {
	last, vendor1, vendor3, vendor2 := cpuid(0, 0)
	model, _, features1, features2 := cpuid(1, 0)
	words := []uint32{vendor1, vendor2, vendor3, model, features1, features2}
	const hasXGETBV = 1 << 27
	if features1&hasXGETBV != 0 {
		low, high := xgetbv()
		words = append(words, low, high)
	}
	add := func(last, leaf, sub uint32) {
		if leaf <= last {
			a, b, c, d := cpuid(leaf, sub)
			words = append(words, leaf, a, b, c, d)
		}
	}
	add(last, 7, 0)
	add(last, 7, 1)
	if last >= 0xd { // of which the other words depend on what a thread uses
		a, _, _, _ := cpuid(0xd, 1)
		words = append(words, 0xd, a)
	}
	for _, leaf := range []uint32{0x14, 0x19, 0x24} {
		add(last, leaf, 0)
	}
	last, _, _, _ = cpuid(0x80000000, 0)
	add(last, 0x80000001, 0)
	add(last, 0x80000008, 0)
	return fmt.Sprintf("%x", words)
}
