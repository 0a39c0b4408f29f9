package woven

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Machine has the variables of one run, and runs its kernels. Its methods are
// called from one goroutine.
type Machine interface {
	// Kernel runs a kernel, which is not one of the host's, over all rows of
	// its source.
	Kernel(k *harmony.Kernel) (Work, error)
	// Build makes an index of a version of its relation as it is.
	Build(x *harmony.Index, of harmony.Version) error
	// Merge ends a round of a relation: what was inserted becomes its delta.
	// After the last one nothing is inserted any more.
	Merge(r *harmony.Relation, last bool) error
	// Clear empties a relation or groups.
	Clear(v harmony.Managed) error
	// Free gives back what a variable holds. One that is filled again may keep
	// memory.
	Free(v harmony.Managed, again bool) error
	// Size returns the tuples of a relation.
	Size(r *harmony.Relation) (Size, error)
	// Rows presents the merged tuples of a relation. They stay until the
	// relation changes.
	Rows(r *harmony.Relation) (*order.Rows, error)
	// Append adds n tuples to a relation, of which read reads the words of a
	// column from a row on.
	Append(to *harmony.Relation, n int, read func(col int, dst []int64, from int)) error
	// Output returns the contents of a relation, which the run does not need
	// again.
	Output(r *harmony.Relation) ([]*store.Column, error)
}

// Looper is a Machine that can run some loops by itself.
type Looper interface {
	// Loop runs a block that branches back to itself until it does not. It is
	// not done if the machine would rather be led through it, and then nothing
	// has happened.
	Loop(b *harmony.Block) (done bool, err error)
}

// Rounder is a Machine that can run rounds of some loops by itself.
type Rounder interface {
	// Rounds runs rounds of a block that branches back to itself, at most most.
	Rounds(b *harmony.Block, most int64) (Rounds, error)
}

// Rounds are what a machine has run of a loop.
type Rounds struct {
	Whole int64 // rounds, to their ends
	Done  bool  // the loop does not go on
	At    int   // the command at which the next round goes on
}

// Orderer is a Machine that can order tuples where they are. What it has not
// done is done on the host.
type Orderer interface {
	// Number carries out the command, and returns how many tuples it appends.
	Number(c *harmony.Number) (n int64, done bool, err error)
	// TopK carries out the command, and returns how many tuples it appends.
	TopK(c *harmony.TopK) (n int64, done bool, err error)
	// KeysDiffer reports whether no two merged tuples of a relation have equal
	// keys.
	KeysDiffer(r *harmony.Relation) (differ, done bool, err error)
}

// Keeper is a Machine that can leave outputs where they are.
type Keeper interface {
	// Keep makes a relation, which the run does not need again, outlive the
	// run.
	Keep(r *harmony.Relation) (runtime.Pending, error)
}

// Finisher is a Machine that has something to do when all outputs are there,
// before the costs are reported.
type Finisher interface {
	Finish(a *runtime.Answer) error
}

// Work is what one run of a kernel did.
type Work struct {
	Source int64         // rows of its source
	Kept   int64         // tuples that are new
	Bytes  int64         // of the columns that it loads from its source, and of the tuples
	Device time.Duration // by the device's events
	ByBits bool          // whether it joined by bit rows
}

// Size is the number of a relation's tuples.
type Size struct{ Full, Delta int64 }

// Walk is one run of a program.
type Walk struct {
	*Bound
	Request *runtime.Request
	Machine Machine
	// Order has the threads and the memory for what is sorted on the host.
	Order *order.Sorter
	// Running is the command that is at work, for internal errors.
	Running string
	// Rounds is the most rounds that an unbounded loop has taken so far.
	Rounds int64

	ctx    context.Context
	most   int64 // rounds of an unbounded loop
	answer *runtime.Answer
	costs  map[harmony.Command]*cost
	keys   map[*harmony.CheckKey]*order.KeySet
	again  map[place]bool
	pace   runtime.Pace
}

// cost is what the runs of a command have cost.
type cost struct {
	calls int64
	work  Work
	time  time.Duration
}

// place is a variable after a command.
type place struct {
	v harmony.Managed
	b *harmony.Block
	i int
}

// Run goes through the program from its entry to Halt. It fails with ctx's
// cause soon after ctx is done.
func (w *Walk) Run(ctx context.Context) (*runtime.Answer, error) {
	w.ctx, w.most = ctx, w.Request.RoundsBound()
	w.answer = &runtime.Answer{Outputs: map[string]*store.Relation{}}
	w.costs = map[harmony.Command]*cost{}
	w.keys = map[*harmony.CheckKey]*order.KeySet{}
	w.again = map[place]bool{}
	w.pace = runtime.StartPace()
	visits := map[*harmony.Block]int{}
	var last *harmony.Block
	for b := w.Graph.Blocks[0]; b != nil; {
		for _, v := range w.Lives.Entry[b] {
			if err := w.free(v, b, -1); err != nil {
				return nil, err
			}
		}
		if last != nil && !(w.Reach[last][b] && w.Reach[b][last]) {
			visits[b] = 0
		}
		visits[b]++
		rounds, err := w.rounds(b, visits[b])
		if err != nil {
			return nil, err
		}
		visits[b] += int(rounds.Whole)
		last = b
		if rounds.Done {
			b = b.Term.(*harmony.Branch).Else
			continue
		}
		if b, err = w.block(b, rounds.At, visits[b]); err != nil {
			return nil, err
		}
	}
	w.Running = "output"
	if err := w.outputs(); err != nil {
		return nil, err
	}
	if f, ok := w.Machine.(Finisher); ok {
		if err := f.Finish(w.answer); err != nil {
			return nil, err
		}
	}
	if w.Request.Profile {
		w.profile()
	}
	return w.answer, nil
}

// rounds lets the machine run rounds of a block before a visit.
func (w *Walk) rounds(b *harmony.Block, visit int) (done Rounds, err error) {
	branch, ok := b.Term.(*harmony.Branch)
	l, able := w.Machine.(Rounder)
	if !ok || branch.Then != b || !able {
		return Rounds{}, nil
	}
	w.Running = "the loop of " + b.Name
	begin, most := time.Now(), int64(math.MaxInt64)
	if branch.Unbounded {
		most = w.most - int64(visit)
	}
	if done, err = l.Rounds(b, most); err != nil || done == (Rounds{}) {
		return done, err
	}
	w.trace(begin, Work{})
	if done.Done {
		if branch.Unbounded {
			w.Rounds = max(w.Rounds, int64(visit)+done.Whole-1)
		}
		for i, c := range b.Cmds {
			if err := w.freeAfter(b, i, c); err != nil {
				return done, err
			}
		}
		return done, nil
	}
	return done, w.progress(b, visit+int(done.Whole))
}

// block runs a block from a command on, and returns the one to go on with, nil
// at the end.
func (w *Walk) block(b *harmony.Block, from, visit int) (*harmony.Block, error) {
	if visit == 1 && from == 0 {
		done, err := w.loop(b)
		if err != nil {
			return nil, err
		}
		if done {
			return b.Term.(*harmony.Branch).Else, nil
		}
	}
	for i, c := range b.Cmds {
		if i < from {
			continue
		}
		if err := w.step(b, i, c); err != nil {
			return nil, err
		}
	}
	if err := w.progress(b, visit); err != nil {
		return nil, err
	}
	next, err := w.next(b)
	if err != nil {
		return nil, err
	}
	if loop, ok := b.Term.(*harmony.Branch); ok && loop.Unbounded {
		w.Rounds = max(w.Rounds, int64(visit))
		if next == loop.Then && int64(visit) >= w.most {
			_, _, total, err := w.filled(b)
			if err != nil {
				return nil, err
			}
			return nil, w.RoundsError(b, total)
		}
	}
	return next, nil
}

// RoundsError is the failure of a block's loop that has taken as many rounds as
// the request allows, and goes on. tuples is what the loop has derived, or 0.
func (w *Walk) RoundsError(b *harmony.Block, tuples int64) error {
	for _, block := range w.Request.Plan.Blocks {
		if loop, ok := block.Term.(*queryplan.Branch); ok && block.Name == b.Name {
			return &runtime.RoundsError{Loop: loop, Rounds: w.most, Tuples: tuples}
		}
	}
	panic("a loop that the plan does not have")
}

// loop lets the machine run a block until it does not branch back.
func (w *Walk) loop(b *harmony.Block) (done bool, err error) {
	branch, ok := b.Term.(*harmony.Branch)
	l, able := w.Machine.(Looper)
	if !ok || branch.Then != b || !able {
		return false, nil
	}
	w.Running = "the loop of " + b.Name
	begin := time.Now()
	if done, err = l.Loop(b); !done || err != nil {
		return false, err
	}
	w.trace(begin, Work{})
	for i, c := range b.Cmds {
		if err := w.freeAfter(b, i, c); err != nil {
			return false, err
		}
	}
	return true, nil
}

// step executes a command and frees what nothing needs after it.
func (w *Walk) step(b *harmony.Block, i int, c harmony.Command) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	w.Running = harmony.CommandString(c)
	var begin time.Time
	if w.Request.Profile || w.Request.Trace != nil {
		begin = time.Now()
	}
	work, err := w.execute(b, i, c)
	if err != nil {
		return err
	}
	if w.Request.Profile {
		w.Charge(c, 1, work, time.Since(begin))
	}
	w.trace(begin, work)
	return w.freeAfter(b, i, c)
}

// trace tells that what is running began at a time and has ended.
func (w *Walk) trace(begin time.Time, work Work) {
	if w.Request.Trace == nil {
		return
	}
	name, _, _ := strings.Cut(w.Running, "\n")
	s := runtime.Span{Track: "host", Name: name, Start: begin, Duration: time.Since(begin)}
	if work.Source > 0 || work.Kept > 0 {
		s.Args = map[string]any{"rows": work.Source, "new": work.Kept, "bytes": work.Bytes}
	}
	w.Request.Trace(s)
}

// Charge adds to the costs of a command. A machine that runs a loop by itself
// tells what the loop's commands cost.
func (w *Walk) Charge(c harmony.Command, calls int64, work Work, time time.Duration) {
	k := w.costs[c]
	if k == nil {
		k = &cost{}
		w.costs[c] = k
	}
	k.calls += calls
	k.work.Source += work.Source
	k.work.Kept += work.Kept
	k.work.Bytes += work.Bytes
	k.work.Device += work.Device
	k.work.ByBits = k.work.ByBits || work.ByBits
	k.time += time
}

func (w *Walk) freeAfter(b *harmony.Block, i int, c harmony.Command) error {
	life := w.Lives.Commands[c]
	if life == nil {
		return nil
	}
	for _, v := range life.Free {
		if err := w.free(v, b, i); err != nil {
			return err
		}
	}
	return nil
}

// free gives back what a variable holds after a command of a block.
func (w *Walk) free(v harmony.Managed, b *harmony.Block, i int) error {
	at := place{v, b, i}
	again, known := w.again[at]
	if !known {
		again = w.WrittenAgain(v, b, i)
		w.again[at] = again
	}
	return w.Machine.Free(v, again)
}

// next returns the block that a terminator goes to; nil for Halt.
func (w *Walk) next(b *harmony.Block) (*harmony.Block, error) {
	switch t := b.Term.(type) {
	case *harmony.Jump:
		return t.To, nil
	case *harmony.Branch:
		for _, rel := range t.Vars {
			size, err := w.Machine.Size(rel)
			if err != nil {
				return nil, err
			}
			if size.Delta > 0 {
				return t.Then, nil
			}
		}
		return t.Else, nil
	}
	return nil, nil
}

// execute carries out a command.
func (w *Walk) execute(b *harmony.Block, i int, c harmony.Command) (Work, error) {
	switch c := c.(type) {
	case *harmony.Run:
		if c.Kernel.Host {
			return w.host(c.Kernel)
		}
		return w.Machine.Kernel(c.Kernel)
	case *harmony.Build:
		return Work{}, w.Machine.Build(c.Index, c.Version())
	case *harmony.Merge:
		return Work{}, w.Machine.Merge(c.Rel, !w.InsertsAfter(c.Rel, b, i))
	case *harmony.Clear:
		return Work{}, w.Machine.Clear(c.Var)
	case *harmony.Number:
		n, err := w.number(c)
		return Work{Kept: n}, err
	case *harmony.TopK:
		n, err := w.topK(c)
		return Work{Kept: n}, err
	case *harmony.Check:
		return Work{}, w.check(c)
	case *harmony.CheckKey:
		return Work{}, w.checkKey(c, w.InsertsAfter(c.Rel, b, i))
	}
	panic("no command " + w.Running)
}

// Progress reports how a loop is doing that a machine runs by itself, unless
// that was done just now: the tuples of the relations that are new and those
// that are there.
func (w *Walk) Progress(b *harmony.Block, iteration int, rels []*harmony.Relation, fresh,
	total int64) {
	if !w.pace.Due(w.Request) {
		return
	}
	p := runtime.Progress{Block: b.Name, Iteration: iteration, New: fresh, Total: total}
	for _, r := range rels {
		p.Vars = append(p.Vars, r.Name)
	}
	w.Request.Progress(p)
}

func (w *Walk) progress(b *harmony.Block, visits int) error {
	if !w.Reach[b][b] || !w.pace.Due(w.Request) {
		return nil
	}
	p := runtime.Progress{Block: b.Name, Iteration: visits}
	var err error
	if p.Vars, p.New, p.Total, err = w.filled(b); err != nil {
		return err
	}
	w.Request.Progress(p)
	return nil
}

// filled returns the relations that the rounds of a block fill, the number of
// tuples that the last round has added to them, and that of all their tuples.
func (w *Walk) filled(b *harmony.Block) (names []string, added, total int64, err error) {
	for _, c := range b.Cmds {
		if m, ok := c.(*harmony.Merge); ok && !slices.Contains(names, m.Rel.Name) {
			size, err := w.Machine.Size(m.Rel)
			if err != nil {
				return nil, 0, 0, err
			}
			names = append(names, m.Rel.Name)
			added += size.Delta
			total += size.Full
		}
	}
	return names, added, total, nil
}

// outputs makes stored relations of the program's outputs.
func (w *Walk) outputs() error {
	keeper, keeps := w.Machine.(Keeper)
	keeps = keeps && w.Request.Resident && len(w.answer.Violations) == 0
	for _, decl := range w.Graph.Relations {
		if !decl.Output {
			continue
		}
		if keeps && w.Data.Columns(decl) == nil {
			p, err := keeper.Keep(decl)
			if err != nil {
				return err
			}
			if w.answer.Pending == nil {
				w.answer.Pending = map[string]runtime.Pending{}
			}
			w.answer.Pending[decl.Name] = p
			continue
		}
		size, err := w.Machine.Size(decl)
		if err != nil {
			return err
		}
		cols := w.Data.Columns(decl)
		if cols == nil {
			if cols, err = w.Machine.Output(decl); err != nil {
				return err
			}
		}
		w.answer.Outputs[decl.Name] = Stored(decl, cols, int(size.Full))
	}
	return nil
}

// Stored makes a stored relation of columns of n rows.
func Stored(decl *harmony.Relation, cols []*store.Column, rows int) *store.Relation {
	table := &store.Table{Name: decl.Name, Columns: cols, Rows: rows}
	out := &store.Relation{Name: decl.Name, Table: table, Keys: decl.Keys}
	for i, c := range decl.Cols {
		table.Names = append(table.Names, c.Name)
		out.Cols = append(out.Cols, i)
	}
	return out
}

// Names returns what users call the variables of a run. A variable that
// lowering adds has the name of the predicate whose rule needs it.
func (b *Bound) Names(plan *queryplan.Plan) func(harmony.Managed) string {
	users := map[source.Span]string{}
	for _, block := range plan.Blocks {
		for _, c := range block.Cmds {
			if c, ok := c.(*queryplan.Insert); ok {
				users[c.Span] = c.Var.Name
			}
		}
	}
	delete(users, source.Span{})
	vars := map[string]bool{}
	for _, v := range plan.Vars {
		vars[v.Name] = true
	}
	return func(v harmony.Managed) string {
		span := source.Span{}
		switch v := v.(type) {
		case *harmony.Relation:
			if v.Kind != queryplan.Temp && vars[v.Name] {
				return v.Name
			}
			span = v.Span
		case *harmony.Groups:
			span = v.Span
		case *harmony.Index:
			return "an index of " + b.Names(plan)(v.Of)
		}
		if user, ok := users[span]; ok {
			return user
		}
		return v.ManagedName()
	}
}

// Dict returns the dictionary of a relation's column of strings, else nil.
func (b *Bound) Dict(r *harmony.Relation, col int) *store.Dict {
	if d := b.Domains.Column(r, col); d != nil {
		return b.Data.Dict(d.ID)
	}
	return nil
}

// InternalError is a bug of an engine or of the code that it runs.
type InternalError struct {
	Engine  string
	Command string // what was running
	Cause   any
	Stack   string
}

// Recovered returns the error that a panic of an engine carries: that of a
// dictionary without room for another string, that of a column of facts that
// cannot be decoded, or an *InternalError.
func (w *Walk) Recovered(engine string, p any) error {
	switch p := p.(type) {
	case *runtime.MemoryError:
		return p
	case *store.DecodeError:
		return p
	}
	return &InternalError{
		Engine: engine, Command: w.Running, Cause: p, Stack: string(debug.Stack()),
	}
}

// Error says that this is a bug and where it struck.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in the %s engine: %v, in %s", e.Engine, e.Cause, e.Command)
}
