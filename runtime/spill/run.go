package spill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Options say where a run spills to.
type Options struct {
	// Folder is where the file is made. If it is "", the file is in the host's
	// memory and counts against the memory of the request, if that is bounded.
	Folder string
	// Device is the memory of the engine's device in bytes. 0 means that the
	// engine runs on the host, in the memory of the request.
	Device int64
	// Host is the go engine, for a run on a device. It evaluates boxes that do
	// not fit the device and cannot be cut.
	Host runtime.Engine
	// Open opens the file in tests; nil stands for an unnamed file in Folder.
	Open func() (Store, error)
}

// run is one run of a plan over a file.
type run struct {
	ctx    context.Context
	req    *runtime.Request
	inner  runtime.Engine
	host   runtime.Engine  // beside an inner one with memory of its own; else nil
	bound  int64           // of the memory of inner
	mem    *account.Memory // of the host
	peak   int64           // of this and of what runs boxes
	file   *blockFile
	answer *runtime.Answer

	// dict has the strings of all bags in the file. ownDict means that the run
	// may add strings to it.
	dict    *store.Dict
	ownDict bool
	recodes map[*store.Dict][]uint32

	// visited is the number of the last round, for requests for rounds.
	visited int64

	cuts    *segments.Cuts
	loaded  map[string]*bag // facts
	derived map[string]*bag // complete variables, by name
}

// Run evaluates a request by parts: on the go engine, if the request bounds
// memory, or on the engine of a device. The answer is that of a run in which
// everything fits.
func Run(ctx context.Context, inner runtime.Engine, req *runtime.Request, opts Options) (
	answer *runtime.Answer, err error) {
	if err := req.Facts.Decode(ctx, req.Threads); err != nil {
		return nil, err
	}
	if opts.Open == nil {
		opts.Open = func() (Store, error) { return open(opts.Folder) }
	}
	r := &run{ctx: ctx, req: req, inner: inner, bound: req.Memory, mem: account.New(req.Memory),
		file: &blockFile{folder: opts.Folder},
		answer: &runtime.Answer{Outputs: map[string]*store.Relation{},
			Rounds: map[string]runtime.Rounds{}},
		recodes: map[*store.Dict][]uint32{}, loaded: map[string]*bag{},
		derived: map[string]*bag{}, cuts: segments.Cut(req.Plan)}
	r.file.profile.Folder = opts.Folder
	if r.file.file, err = opts.Open(); err != nil {
		return nil, failed("make", opts.Folder, err)
	}
	defer func() {
		if closed := r.file.file.Close(); closed != nil && err == nil {
			answer, err = nil, failed("close", opts.Folder, closed)
		}
	}()
	if opts.Device > 0 {
		r.bound, r.host = opts.Device, opts.Host
		r.answer.Device = &runtime.DeviceProfile{}
	}
	if opts.Folder == "" {
		r.file.memory = r.mem
	}
	if err := r.strings(); err != nil {
		return nil, err
	}
	for at := range r.cuts.Pieces {
		if err := r.piece(at); err != nil {
			return nil, err
		}
	}
	if err := r.results(); err != nil {
		return nil, err
	}
	r.answer.Peak = max(r.peak, r.mem.Peak())
	r.answer.Spill = &r.file.profile
	return r.answer, nil
}

// stopped returns the cause of a cancelled run.
func (r *run) stopped() error { return context.Cause(r.ctx) }

// room is how many bytes a box can take.
func (r *run) room() int64 { return min(r.bound, r.mem.Room()) }

// narrowRoom is the memory below which one thread runs a box. The buffers of
// several threads would take most of it.
const narrowRoom = 64 << 20

// engine runs a plan over facts in the memory that is free.
func (r *run) engine(on runtime.Engine, plan *queryplan.Plan, facts *store.Database) (
	*runtime.Answer, error) {
	req := *r.req
	req.Plan, req.Facts, req.Memory = plan, facts, max(r.mem.Room(), 1)
	req.MaxRounds = r.req.RoundsBound()
	if r.req.MaxRounds < 0 {
		req.MaxRounds = -1
	}
	if req.Memory < narrowRoom {
		req.Threads = 1
	}
	req.Profile, req.Round, req.Resident, req.Adaptive = false, nil, false, false
	answer, err := on.Run(r.ctx, &req)
	if err != nil {
		var memory *runtime.MemoryError
		if errors.As(err, &memory) && memory.System == nil && !memory.Device {
			return nil, &runtime.MemoryError{What: memory.What, Want: memory.Want,
				Held: memory.Held + r.mem.Held(), Bound: r.bound}
		}
		return nil, err
	}
	if answer.Device == nil {
		r.peak = max(r.peak, r.mem.Held()+answer.Peak)
		return answer, nil
	}
	r.answer.Device.Add(answer.Device)
	r.answer.Compile += answer.Compile
	return answer, nil
}

// strings makes one dictionary of all strings of the facts and of the plan.
func (r *run) strings() error {
	var dicts []*store.Dict
	grows := false
	var texts []string
	for _, v := range r.req.Plan.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
			continue
		}
		g, err := r.source(v)
		if err != nil {
			return err
		}
		for _, c := range g.facts {
			if c.Dict != nil && !slices.Contains(dicts, c.Dict) {
				dicts = append(dicts, c.Dict)
			}
		}
	}
	constant := func(v scalar.Value) {
		if v.Type.Kind == scalar.String {
			texts = append(texts, v.Str())
		}
	}
	for _, c := range r.req.Plan.Commands() {
		queryplan.Walk(queryplan.CommandNode(c), func(n queryplan.Node) {
			switch n := n.(type) {
			case *queryplan.Values:
				for _, row := range n.Rows {
					for _, v := range row {
						constant(v)
					}
				}
			case *queryplan.Map:
				for _, e := range n.Exprs {
					queryplan.WalkExpr(e.Expr, func(e queryplan.Expr) {
						switch e := e.(type) {
						case *queryplan.Const:
							constant(e.Value)
						case *queryplan.Call:
							grows = grows || e.Type().Kind == scalar.String
						}
					})
				}
			}
		})
	}
	bytes := int64(0)
	if len(dicts) != 1 || grows {
		for _, d := range dicts {
			bytes += d.Bytes() + 4*int64(d.Len())
		}
		dicts = append(dicts, store.NewDict(nil))
	}
	if err := r.mem.Reserve("a dictionary of strings", bytes); err != nil {
		return err
	}
	var remaps [][]uint32
	r.dict, remaps = store.MergeDicts(dicts, texts)
	if r.ownDict = !slices.Contains(dicts, r.dict); grows && !r.ownDict {
		// An empty dictionary equals only an empty one.
		r.dict, r.ownDict = store.NewDict(nil), true
	}
	for i, d := range dicts {
		r.recodes[d] = remaps[i]
	}
	return nil
}

// mostRecodes bounds the dictionaries whose translated codes are kept.
const mostRecodes = 64

// codes returns the run's codes for the strings of a dictionary; nil if they
// are the same.
func (r *run) codes(d *store.Dict) ([]uint32, error) {
	if d == r.dict {
		return nil, nil
	}
	codes, ok := r.recodes[d]
	if ok {
		return codes, nil
	}
	codes = make([]uint32, d.Len())
	if len(r.recodes) > mostRecodes {
		clear(r.recodes)
	}
	r.recodes[d] = codes
	before := r.dict.AddedBytes()
	for i := range codes {
		s := d.String(uint32(i))
		code, ok := r.dict.Lookup(s)
		if !ok && !r.ownDict {
			return nil, fmt.Errorf("no dictionary has the string %q", s)
		}
		if !ok {
			code = r.dict.Intern(s)
		}
		codes[i] = code
	}
	return codes, r.mem.Reserve("the dictionary of computed strings", r.dict.AddedBytes()-before)
}

// source returns the facts of a variable.
func (r *run) source(v *queryplan.Var) (*bag, error) {
	if g := r.derived[v.Name]; g != nil {
		return g, nil
	}
	key := fmt.Sprint(v.Kind, v.Stored, v.Source)
	if g := r.loaded[key]; g != nil {
		return g, nil
	}
	cols, rows, err := prepare.Stored(r.req.Facts, prepare.Variable{Name: v.Name, Kind: v.Kind,
		Cols: v.Cols, Source: v.Source, Stored: v.Stored})
	if err != nil {
		return nil, err
	}
	for i, c := range cols {
		if c == nil {
			cols[i] = store.ColumnOf(v.Cols[i].Type, nil, nil)
		}
	}
	g := newBag(v.Cols)
	g.facts, g.rows = cols, int64(rows)
	if len(cols) == 0 {
		g.facts = []*store.Column{store.ConstantColumn(scalar.IntType, nil, 0, rows)}
	}
	r.loaded[key] = g
	return g, nil
}

// newBag returns an empty bag of blocks. A bag without columns has one column
// of zeros.
func newBag(cols []queryplan.Column) *bag {
	g := &bag{owned: true}
	for _, c := range cols {
		g.types = append(g.types, c.Type)
	}
	if len(g.types) == 0 {
		g.types = []scalar.Type{scalar.IntType}
	}
	g.tuple = len(g.types)
	return g
}

// filler adds tuples to a bag, and numbers them if the bag has one more column.
// The bag is complete once the filler is closed.
type filler struct {
	r      *run
	g      *bag
	w      *writer
	number numberer
}

func (r *run) filler(g *bag) *filler {
	return &filler{r: r, g: g, w: r.newWriter(g.types, nil, []*[]block{&g.blocks}, 1),
		number: numberer{width: len(g.types)}}
}

func (f *filler) add(rel *store.Relation) error {
	if rel == nil || rel.Rows() == 0 {
		return nil
	}
	cols := rel.Columns()
	from := &bag{facts: cols, rows: int64(rel.Rows())}
	if from.rows < 2*leastStretch || f.r.threads() == 1 {
		return f.r.each(from, nil, firstColumns(len(cols)), f.columns)
	}
	if err := f.w.close(); err != nil { // what was added before comes first
		return err
	}
	lists := [][]block{nil}
	err := f.r.distribute(from, nil, f.g.types, nil, lists, func(at int64, to adder) adder {
		n := numberer{at: f.g.rows + at, width: len(f.g.types)}
		return func(cols [][]int64, rows int) error { return to(n.columns(cols, rows), rows) }
	})
	f.g.blocks = append(f.g.blocks, lists[0]...)
	f.g.rows += from.rows
	return err
}

// columns adds n tuples.
func (f *filler) columns(cols [][]int64, n int) error {
	f.number.at = f.g.rows
	f.g.rows += int64(n)
	return f.w.add(f.number.columns(cols, n), n)
}

// numberer adds a column to tuples that have one less than the width: the
// number of a tuple, or a zero if a tuple has no columns.
type numberer struct {
	at    int64 // the number of the next tuple
	width int
	words []int64
}

func (b *numberer) columns(cols [][]int64, n int) [][]int64 {
	if len(cols) == b.width {
		return cols
	}
	b.words = slices.Grow(b.words[:0], n)[:n]
	for i := range b.words {
		b.words[i] = 0
		if len(cols) > 0 {
			b.words[i] = b.at + int64(i)
		}
	}
	b.at += int64(n)
	return append(slices.Clip(cols), b.words)
}

func (f *filler) close() error { return f.w.close() }

// piece evaluates a piece of the plan: whole, by values of a column, or command
// by command.
func (r *run) piece(at int) error {
	began := time.Now()
	seg := r.cuts.Segment(at, at+1)
	job := parts.OfPlan(seg.Plan)
	sources, err := r.leaves(job, nil)
	if err != nil {
		return err
	}
	out := map[string]*bag{}
	fillers := map[string]*filler{}
	for _, v := range seg.Plan.Vars {
		if v.Kind == queryplan.Derived && v.Output {
			out[v.Name] = newBag(v.Cols)
			fillers[v.Name] = r.filler(out[v.Name])
		}
	}
	about := runtime.SpillPiece{}
	for _, c := range r.cuts.Pieces[at].Commands {
		if v := queryplan.CommandVar(c); v != nil && v.Kind == queryplan.Derived &&
			!slices.Contains(about.Fills, v.Name) {
			about.Fills = append(about.Fills, v.Name)
		}
	}
	checks := func(answer *runtime.Answer) {
		for _, v := range answer.Violations {
			v.Check = r.original(seg, job, v.Check)
			r.answer.Violations = append(r.answer.Violations, v)
		}
	}
	// Several boxes would each count rounds of their own.
	rounds := r.req.Rounds && len(r.cuts.Pieces[at].Loops) > 0
	violations, dropped := len(r.answer.Violations), r.answer.Dropped
	x := r.newBoxes(job, sources, func(answer *runtime.Answer) error {
		checks(answer)
		if rounds {
			r.addRounds(answer.Rounds)
		}
		for name, f := range fillers {
			if err := f.add(answer.Outputs[name]); err != nil {
				return err
			}
		}
		return nil
	})
	x.whole = rounds
	err = x.evaluate()
	for _, f := range fillers {
		if err == nil {
			err = f.close()
		}
	}
	x.tell(&about)
	if isMemory(err) {
		for name, g := range out {
			r.drop(g)
			delete(out, name)
			delete(r.answer.Rounds, name)
		}
		about.By, about.Ranges = nil, nil
		r.answer.Violations, r.answer.Dropped = r.answer.Violations[:violations], dropped
		err = r.commands(seg, out, &about)
	}
	if err != nil {
		return err
	}
	for name, g := range out {
		r.derived[name] = g
		if r.req.Rounds && r.answer.Rounds[name] == nil && g.rows > 0 {
			r.answer.Rounds[name] = runtime.Rounds{{Round: r.visited + 1, Rows: g.rows}}
		}
	}
	r.visited++
	about.Time = time.Since(began)
	r.file.profile.Pieces = append(r.file.profile.Pieces, about)
	r.dropUnused(at + 1)
	return nil
}

// addRounds appends the rounds of a piece that ran whole to those of earlier
// pieces.
func (r *run) addRounds(of map[string]runtime.Rounds) {
	last := r.visited
	for name, rounds := range of {
		for _, end := range rounds {
			end.Round += r.visited
			last = max(last, end.Round)
			r.answer.Rounds[name] = append(r.answer.Rounds[name], end)
		}
	}
	r.visited = last
}

// dropUnused frees the relations that no later piece and no result needs.
func (r *run) dropUnused(next int) {
	for _, v := range r.req.Plan.Vars {
		if g := r.derived[v.Name]; g != nil && !v.Output && !r.cuts.Needed(v.Name, next) {
			r.drop(g)
			delete(r.derived, v.Name)
		}
	}
}

// original returns the constraint of the whole plan for one of a job's plan.
func (r *run) original(seg *segments.Segment, job *parts.Job,
	c *queryplan.Check) *queryplan.Check {
	for i, b := range job.Plan.Blocks {
		if at := slices.Index(b.Cmds, queryplan.Command(c)); at >= 0 {
			return seg.Checks[seg.Plan.Blocks[i].Cmds[at].(*queryplan.Check)]
		}
	}
	return c
}

// leaves returns the rows of a job's leaves.
func (r *run) leaves(job *parts.Job, state map[*queryplan.Var]*state) ([]*bag, error) {
	out := make([]*bag, len(job.Leaves))
	for i, l := range job.Leaves {
		var err error
		if out[i], err = r.leaf(l, state); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leaf returns the rows of a leaf. state has the variables that commands of the
// piece fill outside the job.
func (r *run) leaf(l *parts.Leaf, state map[*queryplan.Var]*state) (*bag, error) {
	switch {
	case l.Values != nil:
		return r.constants(l.Values), nil
	case state[l.Of] != nil:
		return state[l.Of].version(l.Version), nil
	}
	return r.source(l.Of)
}

// constants returns constant rows as facts.
func (r *run) constants(v *queryplan.Values) *bag {
	g := newBag(v.Cols)
	g.rows = int64(len(v.Rows))
	for i, c := range v.Cols {
		b := store.NewBuilder(c.Type, nil)
		for _, row := range v.Rows {
			if c.Type.Kind == scalar.String {
				b.AppendString(row[i].Str())
			} else {
				b.AppendWords([]int64{int64(row[i].Bits())})
			}
		}
		g.facts = append(g.facts, b.Finish())
	}
	return g
}
