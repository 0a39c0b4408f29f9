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

// Options says what is fused.
type Options struct {
	Off  bool   // nothing
	Keep []Pair // pairs that stay apart
	// Distinct tells which derived relations get no tuple twice, as
	// harmony.Distinct does; nil means none.
	Distinct func(*harmony.Relation) bool
	// Budget is what a kernel may take; the zero Budget is that of sm_80, whose
	// kernels every later GPU runs.
	Budget target.Budget
	// TwoIndexes keeps the indexes over old and over full of the same columns
	// of a relation apart.
	TwoIndexes bool
	// Large is the number of kernels and indexes from which a program is large;
	// 0 is target.ManyFunctions.
	Large int
	// Brief leaves refusals out of the report. Finding all of them takes longer
	// than fusing.
	Brief bool
}

// Pair names a producer and a consumer as the program before fusion does.
type Pair struct{ Producer, Consumer string }

// Fuse returns the program with kernels fused as far as dependences and the
// budget allow, and what it did and refused. The given program is not changed;
// the result shares its variables.
//
// Temps are taken in the order in which they are filled, so that a run of
// kernels grows from its first one: it is the one that sees most rows, and
// where the budget ends a run, what is stored has passed most filters (the
// greedy choice of Kernel Weaver). A kernel that the budget keeps out starts
// the next run.
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

// fuser is a program on its way.
type fuser struct {
	*harmony.Program
	opts   Options
	report *Report
	// parts has the kernels of the given program that a kernel consists of.
	parts map[*harmony.Kernel][]*harmony.Kernel
	// names has the kernels' names, and seen the refusals, so that none
	// repeats.
	names map[string]bool
	// commands has the names of the given program's commands, was what one of
	// them is called that a command replaces, and inPlace those that one has
	// taken over.
	commands map[string]bool
	was      map[harmony.Command]string
	inPlace  map[harmony.Command][]string
	seen     map[Refusal]bool
	// isLarge tells whether compiling takes longer than most first runs.
	isLarge bool
}

// newFuser copies the control flow of a program; kernels are replaced, never
// changed.
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

// site is where a command stands.
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
			case *harmony.Build: // the most frequent of the others
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

// nameOf names the command at a site as the given program does: of a fused
// kernel the last part that touches the variable.
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

// pairOf names a producer and a consumer of a temp.
func (f *fuser) pairOf(w, c site, t *harmony.Relation) Pair {
	return Pair{
		f.nameOf(w, func(k *harmony.Kernel) bool { return len(storesTo(k, t)) > 0 }),
		f.nameOf(c, func(k *harmony.Kernel) bool { return readsRows(k, t) }),
	}
}

// named gives a fused kernel a name that is not taken, and notes its parts.
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
