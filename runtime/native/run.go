package native

import (
	"slices"
	"time"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// run is one evaluation of a program.
type run struct {
	req     *runtime.Request
	prog    *program
	code    *compiled
	data    *prepare.Data
	ranges  *ranges.Ranges
	layouts *layouts
	threads int
	sizes   sizes
	mem     *memory
	cancel  canceller
	answer  *runtime.Answer
	running string // the command, for internal errors

	relations map[*harmony.Relation]*relation
	indexes   map[*harmony.Index]*index
	groups    map[*harmony.Groups]*groups
	commands  map[harmony.Command]*command
	keys      map[*harmony.CheckKey]*order.KeySet
	hosts     []*hostCalls
	dropped   int64
	fault     [1]int64
	shown     time.Time // when progress was last reported
}

// command is what is kept of a command from one execution to the next.
type command struct {
	entries []*boundEntry // of a kernel one; of a build those that it has
	profile runtime.CommandProfile
	// Of a kernel, the rows of its source, and the bytes of them that it loaded and
	// of the tuples that it added.
	sourceRows, bytes int64
}

// walk runs the program from its entry to Halt.
func (r *run) walk() error {
	r.allocate()
	r.answer.Outputs = map[string]*store.Relation{}
	visits := map[*harmony.Block]int{}
	var last *harmony.Block
	r.shown = time.Now()
	for b := r.prog.graph.Blocks[0]; b != nil; {
		for _, v := range r.prog.lives.Entry[b] {
			if err := r.free(v, b, -1); err != nil {
				return err
			}
		}
		if last != nil && !(r.prog.reach[last][b] && r.prog.reach[b][last]) {
			visits[b] = 0
		}
		visits[b]++
		for i, c := range b.Cmds {
			if err := r.step(b, i, c); err != nil {
				return err
			}
		}
		r.progress(b, visits[b])
		b, last = r.next(b), b
	}
	r.running = "output"
	if err := r.output(); err != nil {
		return err
	}
	r.answer.Dropped = r.dropped
	r.answer.Peak = r.mem.peak.Load()
	if r.req.Profile {
		r.profile()
	}
	return nil
}

// allocate makes the variables, which hold nothing yet.
func (r *run) allocate() {
	g := r.prog.graph
	r.relations = make(map[*harmony.Relation]*relation, len(g.Relations))
	r.indexes = make(map[*harmony.Index]*index, len(g.Indexes))
	r.groups = make(map[*harmony.Groups]*groups, len(g.Groups))
	r.commands = map[harmony.Command]*command{}
	r.keys = map[*harmony.CheckKey]*order.KeySet{}
	users := r.userNames()
	name := func(v harmony.Managed, span source.Span) string {
		if user, ok := users[span]; ok {
			return user
		}
		return v.ManagedName()
	}
	for _, decl := range g.Relations {
		rel := &relation{decl: decl, what: decl.Name, mem: r.mem, gauge: &gauge{}, minRows: r.sizes.rows}
		if decl.Kind == queryplan.Temp || !r.isPlanVar(decl.Name) {
			rel.what = name(decl, decl.Span)
		}
		loaded := r.data.Columns(decl)
		for i, c := range decl.Cols {
			col := &column{columnLayout: r.layouts.columns[decl][i], typ: c.Type, region: region{mem: r.mem}}
			if loaded != nil {
				col.loaded = loaded[i]
			}
			rel.cols = append(rel.cols, col)
		}
		if loaded != nil {
			rel.gauge.cursor = int64(r.data.Rows(decl))
			rel.full = rel.rows()
		}
		if lay := r.layouts.sets[decl]; lay != nil {
			rel.set = newTupleSet(r.mem, rel.what, lay, r.sizes.convert)
		}
		r.relations[decl] = rel
	}
	for _, decl := range g.Indexes {
		r.indexes[decl] = newIndex(r.mem, decl, r.layouts.indexes[decl], r.relations[decl.Of])
	}
	for _, decl := range g.Groups {
		g := newGroups(r.mem, decl, r.layouts.groups[decl], name(decl, decl.Span), r.threads)
		for i, a := range decl.Accs {
			d := r.prog.domains.Column(decl, len(decl.Keys)+i)
			if d != nil && d.Grows && (a.Fn == queryplan.Min || a.Fn == queryplan.Max) {
				g.strings[i] = r.data.Dict(d.ID)
			}
		}
		r.groups[decl] = g
	}
}

func (r *run) isPlanVar(name string) bool {
	return slices.ContainsFunc(r.req.Plan.Vars, func(v *queryplan.Var) bool { return v.Name == name })
}

// userNames says which predicate the rule at a place fills, so that a message
// about what the rule needs can name it.
func (r *run) userNames() map[source.Span]string {
	names := map[source.Span]string{}
	for _, b := range r.req.Plan.Blocks {
		for _, c := range b.Cmds {
			if c, ok := c.(*queryplan.Insert); ok {
				names[c.Span] = c.Var.Name
			}
		}
	}
	delete(names, source.Span{})
	return names
}

// step executes a command and frees what nothing needs after it.
func (r *run) step(b *harmony.Block, i int, c harmony.Command) error {
	if err := r.cancel.err(); err != nil {
		return err
	}
	r.running = harmony.CommandString(c)
	k := r.commands[c]
	if k == nil {
		k = &command{profile: runtime.CommandProfile{Block: b.Name, Command: i}}
		r.commands[c] = k
	}
	var begin time.Time
	if r.req.Profile {
		begin = time.Now()
	}
	rows, kept, err := r.execute(b, i, c, k)
	if err != nil {
		return err
	}
	if r.req.Profile {
		k.profile.Calls++
		k.profile.Rows += rows
		k.profile.Kept += kept
		k.profile.Time += time.Since(begin)
	}
	if life := r.prog.lives.Commands[c]; life != nil {
		for _, v := range life.Free {
			if err := r.free(v, b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// free gives back what a variable holds after a command of a block. One that is
// filled again keeps its memory.
func (r *run) free(v harmony.Managed, b *harmony.Block, i int) error {
	again := r.prog.writtenAgain(v, b, i)
	switch v := v.(type) {
	case *harmony.Relation:
		if again {
			return r.relations[v].clear()
		}
		r.relations[v].release()
	case *harmony.Index:
		if !again {
			r.indexes[v].free()
		}
	case *harmony.Groups:
		if again {
			r.groups[v].clear()
		} else {
			r.groups[v].free()
		}
	}
	return nil
}

// next returns the block that a terminator goes to; nil for Halt.
func (r *run) next(b *harmony.Block) *harmony.Block {
	switch t := b.Term.(type) {
	case *harmony.Jump:
		return t.To
	case *harmony.Branch:
		for _, rel := range t.Rels {
			if v := r.relations[rel]; v.full > v.old {
				return t.Then
			}
		}
		return t.Else
	}
	return nil
}

// execute carries out a command, and says how many tuples it produced and how many
// of them were new.
func (r *run) execute(b *harmony.Block, i int, c harmony.Command, k *command) (rows, kept int64, err error) {
	switch c := c.(type) {
	case *harmony.Run:
		return r.kernel(c.Kernel, k)
	case *harmony.Build:
		return 0, 0, r.build(c.Index, k)
	case *harmony.Merge:
		rel := r.relations[c.Rel]
		rel.merge()
		if !r.prog.insertsAfter(c.Rel, b, i) {
			rel.dropSet()
		}
		return 0, 0, nil
	case *harmony.Clear:
		switch v := c.Var.(type) {
		case *harmony.Relation:
			return 0, 0, r.relations[v].clear()
		case *harmony.Groups:
			r.groups[v].clear()
		}
		return 0, 0, nil
	case *harmony.Number:
		err = r.number(c)
		return int64(r.relations[c.To].rows()), 0, err
	case *harmony.TopK:
		err = r.topK(c)
		return int64(r.relations[c.To].rows()), 0, err
	case *harmony.Check:
		return 0, 0, r.check(c)
	case *harmony.CheckKey:
		return 0, 0, r.checkKey(c, r.prog.insertsAfter(c.Rel, b, i))
	}
	panic("no command " + r.running)
}

// kernel runs a kernel over all rows of its source.
func (r *run) kernel(k *harmony.Kernel, c *command) (rows, kept int64, err error) {
	if c.entries == nil {
		for _, e := range r.code.module.Entries {
			if e.Of == k.Name && e.Role == abi.Kernel {
				b, err := r.bindKernel(k, e)
				if err != nil {
					return 0, 0, err
				}
				c.entries = []*boundEntry{b}
			}
		}
	}
	e := c.entries[0]
	j := &job{entry: e}
	switch s := k.Source.(type) {
	case *harmony.Rows:
		j.from, j.until = r.relations[s.Rel].version(s.Version)
	case *harmony.GroupRows:
		j.until = r.groups[s.Groups].all().numbers()
	case *harmony.Values:
		j.until = len(s.Rows)
	}
	before, size := e.filled(), e.filledBytes()
	if err := r.exec(j); err != nil {
		return 0, 0, err
	}
	if r.fault[0] != 0 {
		return 0, 0, r.overflow(k)
	}
	kept = e.filled() - before
	read := int64(j.until - j.from)
	c.sourceRows += read
	c.bytes += read*int64(r.loadedBytes(k)) + e.filledBytes() - size
	return kept, kept, nil
}

// filled counts the tuples of the relations that an entry fills.
func (b *boundEntry) filled() int64 {
	n := int64(0)
	for _, t := range b.targets {
		n += t.rel.gauge.cursor
	}
	return n
}

// build makes an index.
func (r *run) build(decl *harmony.Index, c *command) error {
	if c.entries == nil {
		for _, e := range r.code.module.Entries {
			if e.Of == decl.Name && e.Role != abi.Kernel {
				b, err := r.bindEntry(e)
				if err != nil {
					return err
				}
				c.entries = append(c.entries, b)
			}
		}
	}
	passes, err := r.indexes[decl].prepare()
	if err != nil {
		return err
	}
	for _, p := range passes {
		for _, e := range c.entries {
			if e.entry.Role == p.role {
				if err := r.exec(&job{entry: e, from: p.from, until: p.until}); err != nil {
					return err
				}
			}
		}
		if p.after != nil {
			if err := p.after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// progressEvery bounds how often progress is reported.
const progressEvery = 100 * time.Millisecond

func (r *run) progress(b *harmony.Block, visits int) {
	if r.req.Progress == nil || !r.prog.reach[b][b] {
		return
	}
	now := time.Now()
	if now.Sub(r.shown) < progressEvery {
		return
	}
	r.shown = now
	p := runtime.Progress{Block: b.Name, Iteration: visits}
	for _, c := range b.Cmds {
		if m, ok := c.(*harmony.Merge); ok && !slices.Contains(p.Vars, m.Rel.Name) {
			rel := r.relations[m.Rel]
			p.Vars = append(p.Vars, m.Rel.Name)
			p.New += int64(rel.full - rel.old)
			p.Total += int64(rel.full)
		}
	}
	r.req.Progress(p)
}
