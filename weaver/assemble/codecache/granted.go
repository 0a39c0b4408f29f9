package codecache

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Listening returns the same knowledge, and a function that returns what code
// which was made with it takes for granted. Several goroutines may ask.
func (k Knowledge) Listening(graph *harmony.Program) (Knowledge, func() abi.Granted) {
	var mu sync.Mutex
	words, ranges := map[abi.Param]int64{}, map[*harmony.Reg]abi.GrantedRange{}
	heard := k
	heard.Fix = func(entry string, p abi.Param) (int64, bool) {
		v, ok := k.Fix(entry, p)
		if ok {
			mu.Lock()
			defer mu.Unlock()
			words[p] = v
		}
		return v, ok
	}
	heard.Range = func(r *harmony.Reg) (lo, hi int64, ok bool) {
		if lo, hi, ok = k.Range(r); ok {
			mu.Lock()
			defer mu.Unlock()
			ranges[r] = abi.GrantedRange{Lo: lo, Hi: hi}
		}
		return lo, hi, ok
	}
	return heard, func() abi.Granted {
		mu.Lock()
		defer mu.Unlock()
		var g abi.Granted
		for p, v := range words {
			g.Words = append(g.Words, abi.GrantedWord{Param: p, Word: v})
		}
		slices.SortFunc(g.Words, func(a, b abi.GrantedWord) int {
			return cmp.Or(cmp.Compare(a.Param.Kind, b.Param.Kind),
				cmp.Compare(a.Param.Var, b.Param.Var), cmp.Compare(a.Param.Index, b.Param.Index))
		})
		for _, kernel := range graph.Kernels() {
			for i, s := range kernel.Stages {
				if r, ok := ranges[harmony.Def(s)]; ok {
					r.Kernel, r.Stage = kernel.Name, i
					g.Ranges = append(g.Ranges, r)
				}
			}
		}
		return g
	}
}

// Grants returns nil if everything that code for a graph takes for granted is
// true; otherwise the error names the first assumption that is false. Only code
// that was made for groups of form Ordered can fill them.
func (k Knowledge) Grants(graph *harmony.Program, g abi.Granted) error {
	for _, w := range g.Words {
		switch v, ok := k.Fix("", w.Param); {
		case !ok:
			return fmt.Errorf("%s is not always %d", w.Param, w.Word)
		case v != w.Word:
			return fmt.Errorf("%s is %d and not %d", w.Param, v, w.Word)
		}
	}
	for _, v := range graph.Groups {
		p := abi.Param{Kind: abi.GroupForm, Var: v.Name}
		form, ok := k.Fix("", p)
		if ok && abi.Form(form) == abi.Ordered && !slices.ContainsFunc(g.Words,
			func(w abi.GrantedWord) bool { return w.Param == p }) {
			return fmt.Errorf("the rows of %s come in the order of their keys", v.Name)
		}
	}
	kernels := graph.Kernels()
	for _, r := range g.Ranges {
		at := slices.IndexFunc(kernels, func(kernel *harmony.Kernel) bool {
			return kernel.Name == r.Kernel
		})
		if at < 0 || r.Stage < 0 || r.Stage >= len(kernels[at].Stages) ||
			harmony.Def(kernels[at].Stages[r.Stage]) == nil {
			return fmt.Errorf("kernel %s has no value at stage %d", r.Kernel, r.Stage)
		}
		switch lo, hi, ok := k.Range(harmony.Def(kernels[at].Stages[r.Stage])); {
		case !ok:
			return fmt.Errorf("a value of kernel %s is not between %d and %d", r.Kernel, r.Lo, r.Hi)
		case lo < r.Lo || hi > r.Hi:
			return fmt.Errorf("a value of kernel %s is between %d and %d, and not %d and %d",
				r.Kernel, lo, hi, r.Lo, r.Hi)
		}
	}
	return nil
}
