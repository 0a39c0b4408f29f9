package assemble

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
)

// Fusing restricts what plans become: no fusion of kernels at all, or not of
// some pairs, no sorting of the pairs of folds, and no index that serves old
// and full rows.
type Fusing struct {
	Off        bool
	Apart      []string // pairs that stay apart, "k1+k2", by the names before fusion
	Unsorted   bool
	TwoIndexes bool
}

// String is a key: equal restrictions have equal texts.
func (f Fusing) String() string {
	return fmt.Sprintf("%t %q %t %t", f.Off, f.Apart, f.Unsorted, f.TwoIndexes)
}

// Sorted returns the pairs that are sorted for the folds of a plan.
func (f Fusing) Sorted(plan *queryplan.Plan) []sortpairs.Sorted {
	_, sorted := f.sort(plan)
	return sorted
}

// Plan returns the plan that kernels are made of.
func (f Fusing) Plan(plan *queryplan.Plan) *queryplan.Plan {
	sorted, _ := f.sort(plan)
	return sorted
}

func (f Fusing) sort(plan *queryplan.Plan) (*queryplan.Plan, []sortpairs.Sorted) {
	if f.Unsorted {
		return plan, nil
	}
	return sortpairs.Apply(plan)
}

// Check returns the error of a malformed pair.
func (f Fusing) Check() error {
	for _, pair := range f.Apart {
		if _, err := parsePair(pair); err != nil {
			return err
		}
	}
	return nil
}

// pairs returns the pairs that stay apart. Their kernels must be in the graph.
func (f Fusing) pairs(graph *harmony.Program) ([]fuse.Pair, error) {
	var pairs []fuse.Pair
	for _, text := range f.Apart {
		pair, err := parsePair(text)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{pair.Producer, pair.Consumer} {
			if !slices.ContainsFunc(graph.Kernels(),
				func(k *harmony.Kernel) bool { return k.Name == name }) {
				return nil, &failure.Environment{
					Message: fmt.Sprintf("no kernel is called %q", name),
					Help: "redfox compile --emit harmony --no-fuse names the kernels; " +
						"they depend on the facts"}
			}
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// parsePair reads the names of two kernels.
func parsePair(text string) (fuse.Pair, error) {
	producer, consumer, ok := strings.Cut(text, "+")
	if !ok || producer == "" || consumer == "" {
		return fuse.Pair{}, &failure.Environment{
			Message: fmt.Sprintf("%q is no pair of kernels", text),
			Help:    "write two names with a plus between them, such as k1+k2"}
	}
	return fuse.Pair{Producer: producer, Consumer: consumer}, nil
}

// Graph lowers a plan and fuses its kernels for a target, and reports what was
// fused and what was refused.
func Graph(plan *queryplan.Plan, t Target,
	how Fusing) (graph *harmony.Program, report *fuse.Report, err error) {
	return fused(plan, t, how, false)
}

// Kernels is Graph without a report, for runs.
func Kernels(plan *queryplan.Plan, t Target, how Fusing) (*harmony.Program, error) {
	graph, _, err := fused(plan, t, how, true)
	return graph, err
}

// fused is the one place where plans become kernels, for all engines and for
// compiled programs.
func fused(plan *queryplan.Plan, t Target, how Fusing,
	brief bool) (graph *harmony.Program, report *fuse.Report, err error) {
	// Folds read sorted pairs. From here on they need no table of groups.
	plan, sorted := how.sort(plan)
	// Operators become kernels over managed variables. From here on nothing
	// knows operators.
	graph, err = lowered(plan)
	if err != nil {
		return nil, nil, err
	}
	// Functions that GPUs have no code for go to kernels of the host. From here
	// on each kernel runs on one of the two.
	graph, err = Partition(graph, t)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := how.pairs(graph)
	if err != nil {
		return nil, nil, err
	}
	pairs = append(pairs, apart(graph, sorted)...)
	defer failure.Recover("fusion", &err)
	// Kernels that can pass rows on in registers become one. From here on an
	// operator may be in several kernels, and a kernel has several operators.
	// Old and full rows share an index on a GPU. On a CPU the order of kernels
	// that this takes costs more: one that goes by bits finds new tuples at
	// less cost than others.
	graph, report, err = fuse.Fuse(graph,
		fuse.Options{Off: how.Off, Keep: pairs, Budget: t.Budget,
			Distinct: harmony.Distinct(plan), TwoIndexes: how.TwoIndexes || !t.GPU, Brief: brief})
	if err != nil {
		return nil, nil, &failure.Internal{Phase: "fusion", Err: err, Dump: plan.String()}
	}
	return graph, report, nil
}

// apart returns the kernels that fill and read the variables that are not to be
// computed on the way.
func apart(graph *harmony.Program, sorted []sortpairs.Sorted) []fuse.Pair {
	named := map[string]bool{}
	for _, s := range sorted {
		for _, v := range s.Apart {
			named[v.Name] = true
		}
	}
	if len(named) == 0 {
		return nil
	}
	fills, reads := map[string][]string{}, map[string][]string{}
	for _, k := range graph.Kernels() {
		if rows, ok := k.Source.(*harmony.Rows); ok && named[rows.Rel.Name] {
			reads[rows.Rel.Name] = append(reads[rows.Rel.Name], k.Name)
		}
		for _, s := range k.Sinks {
			if s, ok := s.(*harmony.Store); ok && named[s.To.Name] {
				fills[s.To.Name] = append(fills[s.To.Name], k.Name)
			}
		}
	}
	var out []fuse.Pair
	for _, name := range slices.Sorted(maps.Keys(fills)) {
		for _, producer := range fills[name] {
			for _, consumer := range reads[name] {
				out = append(out, fuse.Pair{Producer: producer, Consumer: consumer})
			}
		}
	}
	return out
}

// lowered turns an optimised plan into a kernel graph.
func lowered(plan *queryplan.Plan) (p *harmony.Program, err error) {
	defer failure.Recover("lowering", &err)
	p, err = lower.Lower(plan)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return nil, &failure.Internal{Phase: "lowering", Err: err}
	}
	return p, nil
}

// Partition divides a kernel graph between a GPU and the host. The graph of
// another target stays as it is.
func Partition(graph *harmony.Program, t Target) (p *harmony.Program, err error) {
	if !t.GPU {
		return graph, nil
	}
	defer failure.Recover("partitioning", &err)
	if p, err = partition.Partition(graph); err != nil {
		return nil, &failure.Internal{Phase: "partitioning", Err: err, Dump: graph.String()}
	}
	return p, nil
}
