package pipeline

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan"
)

// Command compiles a command of a block. The result runs it, any number of
// times, and returns how many rows came and how many were new.
func (c *Compiler) Command(b *queryplan.Block, i int, cmd queryplan.Command) func() (rows,
	kept int64) {
	r := c.run
	c.block = b
	switch cmd := cmd.(type) {
	case *queryplan.Insert:
		c.label, c.span = cmd.Var.Name, cmd.Span
		sink := &insertSink{table: c.Tables[cmd.Var], cols: queryplan.NamesOf(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		return func() (int64, int64) {
			exec(r, pipes)
			return sink.finish()
		}
	case *queryplan.Assign:
		c.label, c.span = cmd.Var.Name, cmd.Var.Span
		t := c.Tables[cmd.Var]
		sink := &insertSink{table: t, cols: queryplan.NamesOf(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		return func() (int64, int64) {
			had := t.Detach()
			exec(r, pipes)
			rows, kept := sink.finish()
			t.Publish()
			t.FreeChunks(had)
			return rows, kept
		}
	case *queryplan.Merge:
		t := c.Tables[cmd.Var]
		done := !c.Flow.InsertsAfter(cmd.Var, b, i)
		return func() (int64, int64) {
			t.Merge()
			if done {
				t.DropSet()
			}
			return 0, 0
		}
	case *queryplan.Clear:
		if t := c.Tables[cmd.Var]; t != nil {
			return func() (int64, int64) { t.Clear(); return 0, 0 }
		}
		return func() (int64, int64) { return 0, 0 }
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
		return func() (int64, int64) { return n.run(r), 0 }
	case *queryplan.CheckKey:
		k := &keyCheck{cmd: cmd, table: c.Tables[cmd.Var], binds: c.cols.Of(cmd.Var),
			again: c.Flow.InsertsAfter(cmd.Var, b, i)}
		return func() (int64, int64) { k.run(r); return 0, 0 }
	}
	panic(fmt.Sprintf("no command %T", cmd))
}

func setSink(pipes []*pipeline, s sink) {
	for _, p := range pipes {
		p.sink = s
	}
}
