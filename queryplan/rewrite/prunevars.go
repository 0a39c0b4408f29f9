package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
)

var pruneVars = &Pass{
	Name: "PruneVars",
	Reason: "A predicate that no output and no check needs is not derived; its rules, its part in " +
		"loops and the variable go, and blocks that only follow one another become one.",
	Unless: "A predicate with a key that is still to be checked is needed: the check may fail the " +
		"run. Whether an aggregation's result fits is checked only if it is needed.",
	Before: "insert helper\n  scan a(x)\nmerge helper\ninsert out\n  scan a(x)\nmerge out",
	After:  "insert out\n  scan a(x)\nmerge out",
	Source: "dead-code elimination; Muchnick, Advanced Compiler Design and Implementation, chapter 18",
	run: func(p *program) error {
		needed := neededVars(p.Plan)
		for _, b := range p.Blocks {
			b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool {
				if isResultCheck(c) {
					return slices.ContainsFunc(queryplan.Scans(queryplan.CommandNode(c)),
						func(s *queryplan.Scan) bool {
							return !needed[s.Var]
						})
				}
				v := queryplan.CommandVar(c)
				return v != nil && !needed[v]
			})
			if br, ok := b.Term.(*queryplan.Branch); ok {
				vars := slices.DeleteFunc(slices.Clone(br.Vars), func(v *queryplan.Var) bool {
					return !needed[v]
				})
				kept := *br
				kept.Vars = vars
				b.Term = &kept
				if len(vars) == 0 {
					b.Term = &queryplan.Jump{To: br.Else}
				}
			}
		}
		p.Vars = slices.DeleteFunc(p.Vars, func(v *queryplan.Var) bool { return !needed[v] })
		shrinkTables(p.Plan)
		dropUnreached(p.Plan)
		joinBlocks(p.Plan)
		return nil
	},
}

// neededVars returns the outputs, the checked variables, and the variables that
// these are derived from.
func neededVars(p *queryplan.Plan) map[*queryplan.Var]bool {
	needed := map[*queryplan.Var]bool{}
	var work []*queryplan.Var
	need := func(v *queryplan.Var) {
		if !needed[v] {
			needed[v] = true
			work = append(work, v)
		}
	}
	for _, v := range p.Vars {
		if v.Output {
			need(v)
		}
	}
	reads := map[*queryplan.Var][]*queryplan.Var{}
	for _, c := range p.Commands() {
		var read []*queryplan.Var
		if n := queryplan.CommandNode(c); n != nil {
			for _, s := range queryplan.Scans(n) {
				read = append(read, s.Var)
			}
		}
		if isResultCheck(c) {
			continue
		}
		switch c := c.(type) {
		case *queryplan.Check:
			for _, v := range read {
				need(v)
			}
		case *queryplan.CheckKey:
			need(c.Var)
		default:
			v := queryplan.CommandVar(c)
			reads[v] = append(reads[v], read...)
		}
	}
	counted := loopCounters(p)
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range counted[v] {
			need(c)
		}
		for _, r := range reads[v] {
			need(r)
		}
	}
	return needed
}

// loopCounters returns, for each temporary that a loop assigns, the variables
// that determine how often the loop runs. The temporary's contents after the
// loop depend on them. Inserted tuples do not: once all are inserted, further
// rounds change nothing.
func loopCounters(p *queryplan.Plan) map[*queryplan.Var][]*queryplan.Var {
	out := map[*queryplan.Var][]*queryplan.Var{}
	for _, component := range loops.Components(p) {
		var counters []*queryplan.Var
		for _, b := range component {
			br, ok := b.Term.(*queryplan.Branch)
			if ok && (slices.Contains(component, br.Then) || slices.Contains(component, br.Else)) {
				counters = append(counters, br.Vars...)
			}
		}
		for _, b := range component {
			for _, c := range b.Cmds {
				if a, ok := c.(*queryplan.Assign); ok {
					out[a.Var] = append(out[a.Var], counters...)
				}
			}
		}
	}
	return out
}

// isResultCheck reports whether a command checks the result of an aggregation.
// The check matters only if the result is needed.
func isResultCheck(c queryplan.Command) bool {
	check, ok := c.(*queryplan.Check)
	return ok && check.Result != nil
}

// shrinkTables drops the columns of Table variables that no scan reads, save
// the key.
func shrinkTables(p *queryplan.Plan) {
	used := map[*queryplan.Var][]bool{}
	for _, v := range p.Vars {
		if v.Kind == queryplan.Table {
			used[v] = make([]bool, len(v.Cols))
			for i := range v.Keys {
				used[v][i] = true
			}
		}
	}
	if len(used) == 0 {
		return
	}
	for _, c := range p.Commands() {
		if n := queryplan.CommandNode(c); n != nil {
			for _, s := range queryplan.Scans(n) {
				for i, name := range s.Names {
					if u := used[s.Var]; u != nil && name != "" {
						u[i] = true
					}
				}
			}
		}
	}
	small := map[*queryplan.Var]*queryplan.Var{}
	for i, v := range p.Vars {
		if u := used[v]; slices.Contains(u, false) {
			w := *v
			w.Cols, w.Stored = pickWhere(v.Cols, u), pickWhere(v.Stored, u)
			p.Vars[i], small[v] = &w, &w
		}
	}
	program := program{Plan: p}
	program.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
		n queryplan.Node) queryplan.Node {
		return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
			if s, ok := n.(*queryplan.Scan); ok && small[s.Var] != nil {
				return &queryplan.Scan{Var: small[s.Var], Version: s.Version,
					Names: pickWhere(s.Names, used[s.Var])}
			}
			return n
		})
	})
}

func pickWhere[T any](list []T, keep []bool) []T {
	var out []T
	for i, x := range list {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

// joinBlocks appends a block to its only predecessor if that has no other
// successor.
func joinBlocks(p *queryplan.Plan) {
	before := map[*queryplan.Block]int{p.Blocks[0]: 1}
	for _, b := range p.Blocks {
		for _, s := range b.Successors() {
			before[s]++
		}
	}
	gone := map[*queryplan.Block]bool{}
	for _, b := range p.Blocks {
		for !gone[b] {
			jump, ok := b.Term.(*queryplan.Jump)
			if !ok || jump.To == b || before[jump.To] != 1 {
				break
			}
			b.Cmds = append(b.Cmds, jump.To.Cmds...)
			b.Term = jump.To.Term
			gone[jump.To] = true
		}
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b *queryplan.Block) bool { return gone[b] })
}
