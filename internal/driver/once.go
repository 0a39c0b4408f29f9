package driver

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/buildid"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/prefetch"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// proofs returns where the proofs about keys of files are kept: beside compiled
// code, and under its rules.
func proofs() read.Proofs {
	build, err := buildid.Get()
	cache := kernelcache.Open()
	if err != nil || cache == nil {
		return read.Proofs{}
	}
	key := func(about string) string { return "proof of " + build + " " + about }
	return read.Proofs{
		Get: func(about string) ([]byte, bool) { return cache.Get(key(about)) },
		Put: func(about string, proof []byte) { cache.Put(key(about), proof) },
	}
}

// The steps of loading.
const (
	leaveKeys  = "LeaveKeys"
	selectRows = "SelectRows"
	joinRows   = "SelectRowsByJoins"
	readLate   = "ReadTextLate"
	// encodedColumns is the step without which the host decodes all columns.
	encodedColumns = "EncodedColumns"
)

// LoadSteps lists what loading does for the sake of a plan. Options.Disable
// switches a step off, as it does a pass.
func LoadSteps() []Pass {
	return []Pass{
		{Name: leaveKeys, Doc: "A key of a Parquet file that no scan looks at is not read, if an " +
			"earlier process has found that it does not repeat in the same file."},
		{Name: selectRows, Doc: "Rows of a Parquet file that fail a comparison of all scans of it are " +
			"not loaded. Of a column that is only compared, one value that passes stands for all. " +
			"If no earlier process has found that the keys do not repeat, they are read first."},
		{Name: joinRows, Doc: "Rows of a Parquet file are not loaded if no row of a file that all scans " +
			"join it with is left after that file's selection."},
		{Name: readLate, Doc: "Long columns of strings of a Parquet file that the answer shows and " +
			"nothing compares are read for the rows of the answer, once it is known, if a join or a " +
			"limit may leave few of them."},
		{Name: encodedColumns, Doc: "A GPU decodes columns of numbers of a Parquet file of at least " +
			"4,194,304 rows, of which the host only reads the pages. All rows are loaded then."},
	}
}

// The steps of runs.
const (
	loopOnDevice = "LoopOnDevice"
	joinByBits   = "JoinByBits"
	packColumns  = "PackColumns"
	shareIndexes = "ShareIndexes"
	// streamBatches is the step without which facts that a GPU cannot hold are
	// cut by the values that joins compare.
	streamBatches = "StreamBatches"
	sortPairs     = sortpairs.Name
	// ReorderJoins is the step that chooses orders of joins again within a
	// recursion.
	ReorderJoins = "ReorderJoins"
	// KeepIndexes is the step without which no run finds what another one has
	// made of the same facts.
	KeepIndexes = "KeepIndexes"
)

// RunSteps lists what runs do with a plan beside executing it. Options.Disable
// switches a step off, as it does a pass.
func RunSteps() []Pass {
	return []Pass{
		{Name: loopOnDevice, Doc: "A GPU runs rounds of a loop by itself as long as the deltas are " +
			"small, if the rounds only read and fill relations."},
		{Name: joinByBits, Doc: "On a CPU, the last join of a rule goes through the matches of a " +
			"row as bits, if there are many, and leaves out those found before."},
		{Name: packColumns, Doc: "A GPU keeps large columns of facts in as many bits a value as the " +
			"column needs, if that is a fifth less than whole bytes take."},
		{Name: streamBatches, Doc: "A GPU goes through facts that do not fit its memory by batches of " +
			"the rows of a table, and copies the next batch while it computes on one. The plan, or " +
			"a part of it, must be a sum over these rows."},
		{Name: sortPairs, Doc: "An aggregate in an iteration over what stays the same, joined with " +
			"values of a round, becomes a walk through the pairs, which are sorted by group once. " +
			"Kernels need no table of groups then; the go engine has lists in any case."},
		{Name: shareIndexes, Doc: "On a GPU, kernels of a recursion that look up the rows of before " +
			"a round run first, and those that look up all rows by the same columns after the new " +
			"rows are in the index, so that both have one."},
		{Name: ReorderJoins, Doc: "The orders of the joins of a recursion are chosen again, by the " +
			"tuples that are there, before a round in which a relation that it reads has at least " +
			"4,096 tuples and ten times as many as the orders were chosen for. The go engine takes " +
			"the new orders from that round on, and so does code that goes on with the loop."},
		{Name: KeepIndexes, Doc: "On the go engine and a GPU, indexes over facts stay for later runs " +
			"over the same facts, and on a GPU the values of functions of strings. Without it, " +
			"each run makes its own, as most other systems do."},
	}
}

// withoutSteps returns the names of a list that are those of passes.
func withoutSteps(names []string) []string {
	steps := slices.Concat(LoadSteps(), RunSteps())
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(steps, func(s Pass) bool { return s.Name == name })
	})
}

// leave leaves columns out of a binding that no run with the outputs looks at.
// It plans for the structure of the facts. The plan of a run knows more, and
// may look at more: RunOn reads the columns then.
func (p *Program) leave(b *read.Binding, given *Facts, opts LoadOptions) {
	if facts.HasValues(given) {
		return // they are united with those of files
	}
	if !slices.ContainsFunc(b.Sources, func(s read.Source) bool { _, ok := s.Rows(); return ok }) {
		return // Parquet files only
	}
	derived, inputs, _, err := p.wantedOf(opts.outputs)
	if err != nil {
		return // the run returns the error
	}
	cat := facts.Structure(b)
	plan, _, err := p.rewriteWith(derived, cat, false)
	if err != nil {
		return // all is read, and the run's own plan decides
	}
	// Facts that are an output are read whole, with all of their table.
	shown := map[string]bool{}
	for _, pred := range inputs {
		if rel := cat.Relation(pred); rel != nil {
			shown[rel.Table] = true
		}
	}
	if !slices.Contains(p.disable, leaveKeys) {
		looks := facts.Looks(plan, cat)
		b.Leave(func(pred string, arg int) bool {
			rel := cat.Relation(pred)
			return rel != nil && !shown[rel.Table] && !looks(pred, arg)
		})
	}
	computed := facts.Computed(plan, cat)
	b.Compute(func(pred string, arg int) bool {
		rel := cat.Relation(pred)
		return rel != nil && !shown[rel.Table] && computed(pred, arg)
	})
	selected := rowsOfOneTable(b, cat)
	// The code of a compiled program belongs to a plan with all strings.
	if !slices.Contains(p.disable, readLate) && len(p.codes.List) == 0 {
		carried := facts.Shown(plan, cat)
		least := int64(read.LateBytes)
		if opts.allLate {
			least = 0
		}
		b.Show(least, func(pred string, arg int) bool {
			rel := cat.Relation(pred)
			return rel != nil && !shown[rel.Table] && selected[rel.Table] && carried(pred, arg)
		})
	}
	isWanted := func(pred string) *stats.Relation {
		if rel := cat.Relation(pred); rel != nil && !shown[rel.Table] && selected[rel.Table] {
			return rel
		}
		return nil
	}
	if slices.Contains(p.disable, selectRows) {
		return
	}
	wants := facts.Wants(plan, cat)
	askRows(b, plan, cat, wants, isWanted)
	if !slices.Contains(p.disable, joinRows) {
		joinPartners(b, cat, wants, isWanted)
	}
}

// keepEncoded has a binding leave columns to a GPU to decode, if it is certain
// that it is one that reads them, and has room for all of their rows.
func (p *Program) keepEncoded(b *read.Binding, given *Facts, opts LoadOptions,
	copies *prefetch.Prefetch) {
	if facts.HasValues(given) || slices.Contains(p.disable, encodedColumns) {
		return
	}
	if _, inputs, _, err := p.wantedOf(opts.outputs); err != nil || len(inputs) > 0 {
		return // the host shows them
	}
	size := machine.Size{}
	for i := range b.Sources {
		s := &b.Sources[i]
		rows, known := s.Rows()
		if !known {
			continue
		}
		size.Rows += int(rows)
		columns := map[int]bool{} // at most, each has words of eight bytes
		for _, u := range s.Uses {
			for _, c := range u.Columns {
				columns[c] = true
			}
		}
		size.Bytes += 8 * rows * int64(len(columns))
	}
	if opts.leastEncoded > 0 {
		size.Bytes = 0
	}
	if copies.FitsGPU(size) {
		b.KeepEncoded(cmp.Or(opts.leastEncoded, read.EncodedRows))
	}
}

// askRows has a binding leave out rows that fail the comparisons of a plan.
func askRows(b *read.Binding, plan *queryplan.Plan, cat *stats.Catalog, wants *facts.Wanted,
	isWanted func(pred string) *stats.Relation) {
	conds := wants.Conditions
	if len(conds) == 0 {
		return
	}
	without, _, err := rewrite.Run(wants.Without(plan), cat, rewrite.Options{Disable: allBut("PruneColumns"),
		Verify: true})
	if err != nil {
		return
	}
	looks := facts.Looks(without, cat)
	b.Ask(func(pred string, arg int) *read.Test {
		rel := isWanted(pred)
		if rel == nil {
			return nil
		}
		asked := conds[facts.Column{Table: rel.Table, At: rel.Cols[arg]}]
		if asked == nil {
			return nil
		}
		t := facts.Test(asked)
		t.Alone = !looks(pred, arg)
		return &t
	})
}

// joinPartners has a binding leave out rows without a partner in the joins of a
// plan.
func joinPartners(b *read.Binding, cat *stats.Catalog, wants *facts.Wanted,
	isWanted func(pred string) *stats.Relation) {
	// One of the predicates that have a column stands for it.
	arguments := map[facts.Column]read.Partner{}
	for _, pred := range slices.Sorted(maps.Keys(cat.Relations)) {
		if rel := isWanted(pred); rel != nil {
			for arg, at := range rel.Cols {
				column := facts.Column{Table: rel.Table, At: at}
				arguments[column] = read.Partner{Pred: pred, Arg: arg}
			}
		}
	}
	b.Join(func(pred string, arg int) (list []read.Partner) {
		rel := isWanted(pred)
		if rel == nil {
			return nil
		}
		for _, c := range wants.Partners[facts.Column{Table: rel.Table, At: rel.Cols[arg]}] {
			if partner, ok := arguments[c]; ok {
				list = append(list, partner)
			}
		}
		return list
	})
}

// rowsOfOneTable returns the tables that are all that their source has. Where a
// source has several, as values are missing, a row of one that fails its
// comparisons is wanted for another.
func rowsOfOneTable(b *read.Binding, cat *stats.Catalog) map[string]bool {
	out := map[string]bool{}
	for _, s := range b.Sources {
		tables := map[string]bool{}
		for _, u := range s.Uses {
			tables[cat.Relation(u.Schema.Name).Table] = true
		}
		for name := range tables {
			out[name] = len(tables) == 1
		}
	}
	return out
}

// allBut returns the names of all passes that can be left out but one.
func allBut(name string) []string {
	var out []string
	for _, p := range rewrite.Passes() {
		if p.Name != name && !p.Required {
			out = append(out, p.Name)
		}
	}
	return out
}

// selection is the run for which rows were selected or strings put off.
type selection struct {
	program *Program
	derived []string // the outputs that it computes
}

// selection returns the run for which a load has selected rows or put off
// strings, nil if it has loaded all.
func (p *Program) selection(report *LoadReport, outputs []string) *selection {
	if !slices.ContainsFunc(report.Files,
		func(f read.FileReport) bool { return f.Selected || len(f.Late) > 0 }) {
		return nil
	}
	derived, _, _, _ := p.wantedOf(outputs) // without an error: leave has asked
	return &selection{p, derived}
}

// isForOther reports whether rows or strings were left out for another run than
// that of a program with the outputs.
func (db *Database) isForOther(p *Program, outputs []string) bool {
	if db == nil || db.selectedFor == nil {
		return false
	}
	derived, _, _, err := p.wantedOf(outputs)
	return err == nil &&
		(p != db.selectedFor.program || !slices.Equal(derived, db.selectedFor.derived))
}

// lacks reports whether a run needs columns that were left out.
func (q *Prepared) lacks() bool {
	if q.db == nil || q.db.left == nil {
		return false
	}
	absent := func(c *store.Column) bool { return c.Absent }
	isLeft := func(c *store.Column) bool { return c.Absent || c.Late != nil }
	return slices.ContainsFunc(facts.Scanned(q.plan, q.db.store), absent) ||
		slices.ContainsFunc(q.inputs, func(name string) bool {
			v := q.program.variable(name)
			return v != nil && slices.ContainsFunc(q.db.relation(v).Columns(), isLeft)
		})
}

func (p *Program) variable(name string) *queryplan.Var {
	i := slices.IndexFunc(p.plan.Vars, func(v *queryplan.Var) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return p.plan.Vars[i]
}

// whole returns the database with the columns that were left out.
func (db *Database) whole(ctx context.Context) (*Database, error) {
	again, _, err := db.left(ctx)
	if err != nil {
		return nil, loadError(ctx, err)
	}
	out := &Database{store: store.NewDatabase(), report: db.report, time: db.time,
		prefetch: db.prefetch}
	for _, r := range db.store.Relations() {
		if read := again.Relation(r.Name); read != nil {
			r = read
		}
		out.store.Put(r)
	}
	out.complete()
	return out, nil
}

// withStrings returns the database with the strings of columns that were put
// off.
func (db *Database) withStrings(ctx context.Context, columns []*store.Column, threads int) (
	*Database, error) {
	whole, err := facts.ReadWhole(ctx, db.store, columns, threads)
	if read.IsUnread(err) {
		return db.whole(ctx)
	}
	if err != nil {
		return nil, loadError(ctx, err)
	}
	out := &Database{store: whole, report: db.report, time: db.time, prefetch: db.prefetch,
		left: db.left, selectedFor: db.selectedFor}
	out.complete()
	return out, nil
}

// complete sets what depends on the relations.
func (db *Database) complete() {
	facts.NameTables(db.store)
	db.bytes, db.text, db.onDisk = facts.Bytes(db.store)
	db.print = facts.Fingerprint(db.catalog())
}
