package fuse

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Options chooses what is fused.
type Options struct {
	Off  bool   // fuse nothing
	Keep []Pair // pairs that are not fused
	// Distinct reports whether a derived relation gets no tuple twice
	// (harmony.Distinct). Nil means that none is known to.
	Distinct func(*harmony.Relation) bool
	// Budget bounds the resources of a kernel. The zero Budget is that of
	// sm_80, whose kernels run on every later GPU.
	Budget target.Budget
	// TwoIndexes keeps separate indexes over old and over full for the same
	// columns of a relation.
	TwoIndexes bool
	// Large is the least number of kernels and indexes of a large program; 0
	// means target.ManyFunctions.
	Large int
	// Brief leaves refusals out of the report. Finding all of them takes longer
	// than fusing.
	Brief bool
}

// Pair is the names of a producer and a consumer in the program before fusion.
type Pair struct{ Producer, Consumer string }

// Fuse returns the program with kernels fused as far as dependences and the
// budget allow, and a report. It does not change p; the result shares its
// variables.
//
// Temps are handled in the order in which they are filled, so that a group of
// kernels grows from its first one, which sees the most rows. If the budget
// ends a group, its rows have passed most filters before they are stored (the
// greedy choice of Kernel Weaver). A kernel that does not fit the budget starts
// the next group.
func Fuse(p *harmony.Program, opts Options) (*harmony.Program, *Report, error) {
	if opts.Budget.Items == nil {
		opts.Budget = target.GPU(target.OldestSM).Budget
	}
	f := newFuser(p, opts)
	for _, pair := range opts.Keep {
		for _, name := range []string{pair.Producer, pair.Consumer} {
			if !f.commands[name] {
				return nil, nil, fmt.Errorf("no kernel is called %q", name)
			}
		}
	}
	for _, t := range f.temps() {
		f.passOn(t)
	}
	f.refuseDependences()
	f.orderInPlace()
	f.shareRows()
	if !opts.Off && !opts.TwoIndexes {
		f.shareIndexes()
	}
	f.refuseRows()
	f.describe()
	if err := harmony.Verify(f.Program); err != nil {
		return nil, nil, fmt.Errorf("the fused program is wrong: %w", err)
	}
	return f.Program, f.report, nil
}

// fuser is the program while it is being fused.
type fuser struct {
	*harmony.Program
	opts   Options
	report *Report
	// parts has, for each kernel, the kernels of the given program that it
	// consists of.
	parts map[*harmony.Kernel][]*harmony.Kernel
	// names has the names of kernels, and seen the refusals, so that none
	// repeats.
	names map[string]bool
	// commands has the names of the given program's commands. was has the name
	// of the command that a command replaces, and inPlace the commands whose
	// work it has taken over.
	commands map[string]bool
	was      map[harmony.Command]string
	inPlace  map[harmony.Command][]string
	seen     map[Refusal]bool
	// isLarge means that compiling takes longer than most first runs.
	isLarge bool
}

// newFuser returns a fuser with a copy of the program's control flow. Kernels
// are not copied: they are replaced, never changed.
func newFuser(p *harmony.Program, opts Options) *fuser {
	f := &fuser{
		Program: &harmony.Program{
			Relations: slices.Clone(p.Relations),
			Indexes:   p.Indexes,
			Groups:    p.Groups,
		},
		opts:     opts,
		report:   &Report{Budget: opts.Budget},
		parts:    map[*harmony.Kernel][]*harmony.Kernel{},
		names:    map[string]bool{},
		commands: map[string]bool{},
		was:      map[harmony.Command]string{},
		inPlace:  map[harmony.Command][]string{},
		seen:     map[Refusal]bool{},
	}
	commands := func(from, to *harmony.Block) error {
		to.Cmds = slices.Clone(from.Cmds)
		return nil
	}
	f.Blocks, _ = cfg.Map(p.Blocks, commands, func(r *harmony.Relation) *harmony.Relation {
		return r
	})
	for _, c := range p.Commands() {
		f.commands[commandName(c)] = true
	}
	for _, k := range p.Kernels() {
		f.parts[k] = []*harmony.Kernel{k}
		f.names[k.Name] = true
	}
	return f
}

// site is the place of a command.
type site struct {
	block *harmony.Block
	at    int
}

func (s site) command() harmony.Command { return s.block.Cmds[s.at] }

// kernel returns the kernel of a run, or nil.
func (s site) kernel() *harmony.Kernel {
	if run, ok := s.command().(*harmony.Run); ok {
		return run.Kernel
	}
	return nil
}

// uses are the commands that touch a temp, in the order of the text.
type uses struct{ producers, consumers, clears []site }

func (f *fuser) uses(t *harmony.Relation) uses {
	var u uses
	for _, b := range f.Blocks {
		for i, c := range b.Cmds {
			s := site{b, i}
			switch c := c.(type) {
			case *harmony.Run:
				if len(storesTo(c.Kernel, t)) > 0 {
					u.producers = append(u.producers, s)
				}
				if readsRows(c.Kernel, t) {
					u.consumers = append(u.consumers, s)
				}
			case *harmony.Build: // the most frequent command after runs
				if c.Index.Of == t {
					u.consumers = append(u.consumers, s)
				}
			case *harmony.Merge:
				if c.Rel == t {
					u.producers = append(u.producers, s)
				}
			case *harmony.Clear:
				if c.Var == harmony.Managed(t) {
					u.clears = append(u.clears, s)
				}
			default:
				if slices.Contains(harmony.Reads(c), harmony.Managed(t)) {
					u.consumers = append(u.consumers, s)
				}
				if slices.Contains(harmony.Writes(c), harmony.Managed(t)) {
					u.producers = append(u.producers, s)
				}
			}
		}
	}
	return u
}

// storesTo returns the sinks of a kernel that store to t.
func storesTo(k *harmony.Kernel, t *harmony.Relation) []*harmony.Store {
	var out []*harmony.Store
	for _, s := range k.Sinks {
		if s, ok := s.(*harmony.Store); ok && s.To == t {
			out = append(out, s)
		}
	}
	return out
}

// readsRows reports whether a kernel's source is the temp t.
func readsRows(k *harmony.Kernel, t *harmony.Relation) bool {
	rows, ok := k.Source.(*harmony.Rows)
	return ok && rows.Rel == t && t.Kind == queryplan.Temp
}

// temps returns the temps of the program, without outputs, in the order in
// which they are filled first.
func (f *fuser) temps() []*harmony.Relation {
	var out []*harmony.Relation
	seen := map[harmony.Managed]bool{}
	for _, c := range f.Commands() {
		for _, m := range harmony.Writes(c) {
			r, ok := m.(*harmony.Relation)
			if _, clears := c.(*harmony.Clear); ok && !clears && r.Kind == queryplan.Temp &&
				!r.Output && !seen[m] {
				seen[m] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// commandName names a command in a report: a kernel by its name alone.
func commandName(c harmony.Command) string {
	if run, ok := c.(*harmony.Run); ok {
		return run.Kernel.Name
	}
	return harmony.CommandString(c)
}

// nameOf returns the name of the command at a site in the given program. For a
// fused kernel, it is the name of the last part that touches the variable.
func (f *fuser) nameOf(s site, touches func(*harmony.Kernel) bool) string {
	if k := s.kernel(); k != nil {
		for _, part := range slices.Backward(f.parts[k]) {
			if touches(part) {
				return part.Name
			}
		}
	}
	return cmp.Or(f.was[s.command()], commandName(s.command()))
}

// pairOf returns the names of a producer and a consumer of a temp.
func (f *fuser) pairOf(w, c site, t *harmony.Relation) Pair {
	return Pair{
		f.nameOf(w, func(k *harmony.Kernel) bool { return len(storesTo(k, t)) > 0 }),
		f.nameOf(c, func(k *harmony.Kernel) bool { return readsRows(k, t) }),
	}
}

// named gives a fused kernel a unique name, and records its parts.
func (f *fuser) named(k *harmony.Kernel, of ...*harmony.Kernel) *harmony.Kernel {
	base := k.Name
	for n := 2; f.names[k.Name]; n++ {
		k.Name = fmt.Sprintf("%s_%d", base, n)
	}
	f.names[k.Name] = true
	for _, o := range of {
		f.parts[k] = append(f.parts[k], f.parts[o]...)
	}
	return k
}
