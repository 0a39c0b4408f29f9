package pipeline

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan"
)

// Done is what a run of a command has done.
type Done struct {
	Rows, Kept int64 // tuples that came, and those of them that were new
	ByBits     bool  // whether a join went by bits
}

// Command compiles a command of a block. The result runs it, any number of
// times.
func (c *Compiler) Command(b *queryplan.Block, i int, cmd queryplan.Command) func() Done {
	r := c.run
	c.block = b
	c.findModes(b)
	switch cmd := cmd.(type) {
	case *queryplan.Insert:
		c.label, c.span = cmd.Var.Name, cmd.Span
		sink := &insertSink{table: c.Tables[cmd.Var], cols: queryplan.NamesOf(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		return func() Done {
			exec(r, pipes)
			return sink.finish()
		}
	case *queryplan.Assign:
		c.label, c.span = cmd.Var.Name, cmd.Var.Span
		t := c.Tables[cmd.Var]
		// Rounds have about as many tuples as those before. A bound on memory
		// leaves no room for what nothing uses.
		t.Reuses = t.Reuses || c.Flow.InLoop(b) && c.Kept != nil
		sink := &insertSink{table: t, cols: queryplan.NamesOf(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		same := sameKeys(cmd, pipes)
		keys := uint64(0) // those that this command has made
		run := func() Done {
			had := t.Detach()
			exec(r, pipes)
			done := sink.finish()
			t.Publish()
			if same != nil && same() {
				t.KeepKeys(keys)
			}
			keys = t.Keys()
			t.FreeChunks(had)
			return done
		}
		if m := c.modeOf(cmd); m != nil {
			return m.assign(r, t, cmd == m.Tally, run)
		}
		return run
	case *queryplan.Merge:
		t := c.Tables[cmd.Var]
		last := !c.Flow.InsertsAfter(cmd.Var, b, i)
		return func() Done {
			t.Merge()
			if last {
				t.DropSet()
			}
			return Done{}
		}
	case *queryplan.Clear:
		if t := c.Tables[cmd.Var]; t != nil {
			last := !c.Flow.InLoop(b)
			return func() Done {
				t.Clear()
				if last {
					t.FreeSpare()
				}
				return Done{}
			}
		}
		return func() Done { return Done{} }
	case *queryplan.Check:
		c.label, c.span = "a constraint", cmd.Span
		node := cmd.Node
		if len(queryplan.Keys(node)) == 0 {
			node = &queryplan.Dedup{Input: node}
		}
		n := &checkNode{check: cmd, limit: int64(c.maxViolations), violated: c.violated,
			pipes: c.node(node, namesOf(node.Columns()))}
		cols, o := orderingOf(c.label, node, n.pipes, nil, nil)
		n.cols, n.binds = cols, o.binds
		return func() Done { return Done{Rows: n.run(r)} }
	case *queryplan.CheckKey:
		k := &keyCheck{cmd: cmd, table: c.Tables[cmd.Var], binds: c.cols.Of(cmd.Var),
			again: c.Flow.InsertsAfter(cmd.Var, b, i)}
		return func() Done { k.run(r); return Done{} }
	}
	panic(fmt.Sprintf("no command %T", cmd))
}

// sameKeys returns what reports whether a command has filled a bag with the
// keys of the time before; nil if nothing is known of that.
func sameKeys(cmd *queryplan.Assign, pipes []*pipeline) func() bool {
	n, ok := cmd.Node.(*queryplan.Aggregate)
	if !ok || len(n.By) != cmd.Var.Keys || len(pipes) != 1 || len(pipes[0].stages) > 0 {
		return nil
	}
	src, ok := pipes[0].src.(*bagSource)
	if !ok {
		return nil
	}
	return src.sameKeys
}

func setSink(pipes []*pipeline, s sink) {
	for _, p := range pipes {
		p.sink = s
		switch s := s.(type) {
		case *insertSink:
			p.extend(s)
		case *groupSink:
			// Groups that only count need no row for each tuple of a multijoin.
			if src, ok := p.src.(counter); ok && len(p.stages) == 0 && len(s.agg.Accs) == 0 {
				src.count()
			}
		}
	}
}
