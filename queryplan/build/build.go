package build

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Build returns the plan of a program. Equal programs give byte-identical
// plans. An error is a defect of the front end or of this package, never of the
// user's program.
func Build(prog *core.Program) (*queryplan.Plan, error) {
	b := &builder{plan: &queryplan.Plan{}, vars: map[*core.Pred]*queryplan.Var{},
		facts: map[*core.Pred]*queryplan.Var{}, keys: map[*core.Pred]*queryplan.Var{}}
	b.variables(prog)
	b.startBlock()
	for _, cs := range prog.Strata {
		var err error
		switch s := newStratum(cs); {
		case s.Recursive:
			err = b.recursive(s)
		case s.Iterates():
			err = b.iterate(s)
		default:
			err = b.once(s)
		}
		if err != nil {
			return nil, fmt.Errorf("queryplan/build: %w", err)
		}
	}
	if err := b.checks(prog.Checks); err != nil {
		return nil, fmt.Errorf("queryplan/build: %w", err)
	}
	b.block.Term = &queryplan.Halt{}
	b.splitWide()
	if err := queryplan.Verify(b.plan); err != nil {
		return nil, fmt.Errorf("queryplan/build: %w", err)
	}
	return b.plan, nil
}

type builder struct {
	plan *queryplan.Plan
	// vars has the variable that rules read and fill for a predicate, facts the
	// input that is united with a predicate's facts in the program.
	vars, facts map[*core.Pred]*queryplan.Var
	// keys has the keys of a predicate that numbers them.
	keys  map[*core.Pred]*queryplan.Var
	names *queryplan.Names // of variables
	block *queryplan.Block // that commands are added to
}

func (b *builder) startBlock() {
	b.block = &queryplan.Block{Name: "b" + strconv.Itoa(len(b.plan.Blocks))}
	b.plan.Blocks = append(b.plan.Blocks, b.block)
}

func (b *builder) add(c queryplan.Command) { b.block.Cmds = append(b.block.Cmds, c) }

// variables makes a variable for each predicate. An extensional one is an
// input; if the program has facts for it too, it is derived from them and from
// an input of its own, unless another predicate holds its facts from outside.
func (b *builder) variables(prog *core.Program) {
	hasRules := map[*core.Pred]bool{}
	for _, s := range prog.Strata {
		for _, r := range s.Rules {
			hasRules[r.Head.Pred] = true
		}
	}
	names, held := queryplan.NewNames(), map[string]bool{}
	b.names = names
	for _, p := range prog.Preds {
		names.Take(p.Name)
		held[p.Source] = p.Source != ""
	}
	for _, p := range prog.Preds {
		v := &queryplan.Var{Name: p.Name, Kind: queryplan.Derived, Keys: p.Keys, Limit: -1,
			Span: p.Span}
		for _, a := range p.Args {
			v.Cols = append(v.Cols, queryplan.Column{Name: a.Name, Type: a.Type})
		}
		switch {
		case p.Derived || hasRules[p] && held[p.Name]:
		case hasRules[p]:
			f := &queryplan.Var{Name: names.Fresh(p.Name + "$facts"), Kind: queryplan.Input,
				Cols: v.Cols,
				Keys: p.Keys, Source: cmp.Or(p.Source, p.Name), Limit: -1, Span: p.Span}
			b.facts[p] = f
			b.plan.Vars = append(b.plan.Vars, f)
		default:
			v.Kind, v.Source = queryplan.Input, cmp.Or(p.Source, p.Name)
		}
		if p.Numbers != nil {
			b.numbered(p, v, names)
		}
		v.Unique = v.Unique || p.Makes != nil && v.Kind == queryplan.Derived
		if p.Exported {
			v.Output, v.Limit = true, p.Limit
			for _, k := range p.OrderBy {
				v.OrderBy = append(v.OrderBy,
					queryplan.OrderKey{Col: p.Args[k.Arg].Name, Desc: k.Desc})
			}
		}
		b.vars[p] = v
		b.plan.Vars = append(b.plan.Vars, v)
	}
}

// stratum is a stratum with its rules by head.
type stratum struct {
	*core.Stratum
	rules map[*core.Pred][]*core.Rule
}

func newStratum(s *core.Stratum) *stratum {
	out := &stratum{s, map[*core.Pred][]*core.Rule{}}
	for _, p := range s.Preds {
		out.rules[p] = nil
	}
	for _, r := range s.Rules {
		out.rules[r.Head.Pred] = append(out.rules[r.Head.Pred], r)
	}
	return out
}

// recursiveAtoms returns the positions in the body of the atoms whose predicate
// belongs to the rule's own recursive stratum.
func (s *stratum) recursiveAtoms(r *core.Rule) []int {
	if !s.Recursive {
		return nil
	}
	var out []int
	for i, l := range r.Body {
		if a, ok := l.(*core.Atom); ok {
			if _, ok := s.rules[a.Pred]; ok {
				out = append(out, i)
			}
		}
	}
	return out
}

// once evaluates a stratum whose predicates do not depend on themselves.
func (b *builder) once(s *stratum) error {
	for _, p := range s.Preds {
		ins, err := b.base(s, p)
		if err != nil {
			return err
		}
		if len(ins) > 0 {
			b.complete(p, ins)
		}
	}
	return nil
}

// complete fills the variable of a predicate that does not depend on itself.
func (b *builder) complete(p *core.Pred, ins []*queryplan.Insert) {
	if p.KeepsOne() {
		ins = []*queryplan.Insert{{Var: b.vars[p], Node: best(p, ins), Span: p.Span}}
	}
	for _, in := range ins {
		b.add(in)
	}
	v := b.vars[p]
	b.merge(p)
	if !hasToCheck(p) {
		v.Unique = v.Unique || p.KeepsOne()
		return
	}
	if v.Unique = keepsKey(ins, p.Keys); !v.Unique {
		b.add(&queryplan.CheckKey{Var: v, Span: p.Span})
		v.Checked = true
	}
}

// hasToCheck reports whether two values for one key end the run.
func hasToCheck(p *core.Pred) bool { return p.Functional() && !p.KeysHold() && !p.KeepsOne() }

// keepsKey reports whether it is proved that the first columns of what is
// inserted determine the rest. Facts of the program are looked at, however
// many.
func keepsKey(ins []*queryplan.Insert, keys int) bool {
	if v, ok := ins[0].Node.(*queryplan.Values); ok && len(ins) == 1 {
		return agreeOnKey(v.Rows, keys)
	}
	nodes := list.Map(ins, func(in *queryplan.Insert) queryplan.Node { return in.Node })
	return queryplan.AgreeOnKey(nodes, keys)
}

func agreeOnKey(rows [][]scalar.Value, keys int) bool {
	seen := make(map[string][]scalar.Value, len(rows))
	var b strings.Builder
	for _, r := range rows {
		b.Reset()
		for _, v := range r[:keys] {
			b.WriteString(scalar.Literal(v))
			b.WriteByte(' ')
		}
		first, ok := seen[b.String()]
		if !ok {
			seen[b.String()] = r
			continue
		}
		for i, v := range r {
			if v != first[i] {
				return false
			}
		}
	}
	return true
}

// base returns what the facts of a predicate and its rules without recursive
// atoms derive.
func (b *builder) base(s *stratum, p *core.Pred) ([]*queryplan.Insert, error) {
	return b.derive(p, slices.DeleteFunc(slices.Clone(s.rules[p]), func(r *core.Rule) bool {
		return len(s.recursiveAtoms(r)) > 0
	}))
}

// derive returns what the facts of a predicate and rules for it derive: first
// the facts, as one constant, then the rules in order.
func (b *builder) derive(p *core.Pred, rules []*core.Rule) ([]*queryplan.Insert, error) {
	v := b.filled(p)
	var ins []*queryplan.Insert
	if f := b.facts[p]; f != nil {
		scan := &queryplan.Scan{Var: f}
		for _, c := range f.Cols {
			scan.Names = append(scan.Names, c.Name)
		}
		ins = append(ins, &queryplan.Insert{Var: v, Node: scan, Span: p.Span})
	}
	facts := &queryplan.Values{Cols: v.Cols}
	for _, r := range rules {
		switch {
		case len(r.Body) == 0:
			row, err := factRow(r)
			if err != nil {
				return nil, err
			}
			if len(facts.Rows) == 0 {
				ins = append(ins, &queryplan.Insert{Var: v, Node: facts, Span: r.Span})
			}
			facts.Rows = append(facts.Rows, row)
		default:
			n, err := b.rule(r, -1, nil)
			if err != nil {
				return nil, err
			}
			ins = append(ins, &queryplan.Insert{Var: v, Node: n, Span: r.Span})
		}
	}
	return ins, nil
}

func factRow(r *core.Rule) ([]scalar.Value, error) {
	args := given(&r.Head)
	row := make([]scalar.Value, len(args))
	for i, a := range args {
		c, ok := a.(core.Const)
		if !ok {
			return nil, fmt.Errorf("fact of %s with a variable", r.Head.Pred.Name)
		}
		row[i] = c.Value
	}
	return row, nil
}

// recursive evaluates a stratum to its least fixpoint, semi-naively: the rules
// without recursive atoms once, then rounds in which every rule runs once for
// each recursive atom, that atom over delta, those before it in the source over
// old and those after it over full. So every combination of tuples with a new
// one among them is met in exactly one of these runs.
func (b *builder) recursive(s *stratum) error {
	done := b.steps(s)
	var vars []*queryplan.Var
	for _, p := range s.Preds {
		ins, err := b.base(s, p)
		if err != nil {
			return err
		}
		if p.KeepsOne() && len(ins) > 0 {
			ins = []*queryplan.Insert{{Var: b.vars[p], Node: best(p, ins), Span: p.Span}}
		}
		for _, in := range ins {
			b.add(in)
		}
		vars = append(vars, b.filled(p))
	}
	inLoop := computes(s)
	b.endRound(s, inLoop)
	enter := &queryplan.Branch{Vars: vars}
	b.block.Term = enter

	b.startBlock()
	loop := b.block
	found := map[*core.Pred][]*queryplan.Insert{}
	for _, r := range s.Rules {
		atoms := s.recursiveAtoms(r)
		if len(atoms) > 0 && len(r.Agg) > 0 {
			// The groups that change are those that improve.
			n, err := b.rule(r, -1, nil)
			if err != nil {
				return err
			}
			found[r.Head.Pred] = append(found[r.Head.Pred],
				&queryplan.Insert{Var: b.filled(r.Head.Pred), Node: n, Span: r.Span})
			continue
		}
		for i, at := range atoms {
			versions := map[int]queryplan.Version{at: queryplan.Delta}
			for _, before := range atoms[:i] {
				versions[before] = queryplan.Old
			}
			n, err := b.rule(r, at, versions)
			if err != nil {
				return err
			}
			in := &queryplan.Insert{Var: b.filled(r.Head.Pred), Node: n, Span: r.Span}
			if r.Head.Pred.KeepsOne() {
				found[r.Head.Pred] = append(found[r.Head.Pred], in)
				continue
			}
			b.add(in)
		}
	}
	for _, p := range s.Preds {
		b.improve(p, found[p])
	}
	b.endRound(s, inLoop)
	again := &queryplan.Branch{Vars: vars, Then: loop, Unbounded: s.Unbounded.IsValid(),
		Span: s.Unbounded}
	b.block.Term = again

	b.startBlock()
	enter.Then, enter.Else, again.Else = loop, b.block, b.block
	done()
	for _, p := range s.Preds {
		if !inLoop && hasToCheck(p) {
			b.add(&queryplan.CheckKey{Var: b.vars[p], Span: p.Span})
		}
	}
	return nil
}

// endRound merges the variables of a recursive stratum and, if asked for,
// checks their keys.
func (b *builder) endRound(s *stratum, checkKeys bool) {
	for _, p := range s.Preds {
		b.merge(p)
	}
	for _, p := range s.Preds {
		if v := b.vars[p]; checkKeys && hasToCheck(p) {
			b.add(&queryplan.CheckKey{Var: v, Span: p.Span})
			v.Checked = true
		}
	}
}

// computes reports whether a recursive stratum can make values that are not in
// its input. Then two values for one key may go on to make new ones without end
// (d[y] = n + 1 on a cycle), so that the key has to be checked in every round;
// else the rounds end by themselves and one check after them is enough.
func computes(s *stratum) bool {
	for _, r := range s.Rules {
		if r.Head.Pred.Numbers != nil {
			return true
		}
		if len(s.recursiveAtoms(r)) == 0 {
			continue
		}
		for _, l := range r.Body {
			if _, ok := l.(*core.Let); ok {
				return true
			}
		}
	}
	return false
}

// checks adds a query for the violations of each constraint.
func (b *builder) checks(checks []*core.Check) error {
	for _, c := range checks {
		r := newRule(b, nil, c.Vars, c.Body)
		r.set = true
		s, err := r.conjunction(stream{}, c.Body)
		if err != nil {
			return fmt.Errorf("constraint %q: %w", c.Text, err)
		}
		n := arrange(s.orUnit(), varNames(c.Vars))
		if !queryplan.IsSet(n) {
			n = &queryplan.Dedup{Input: n}
		}
		b.add(&queryplan.Check{Node: n, Text: c.Text, Span: c.Span})
	}
	return nil
}
