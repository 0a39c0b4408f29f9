package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/provenance"
	"github.com/redfoxdb/redfox/runtime/spill"
)

// goalFile is the name of the file that holds a goal.
const goalFile = "<goal>"

// goalHead is the head of the rule that a goal is the body of.
const goalHead = "_() <- "

// Reasons says why a goal holds, or why it does not.
type Reasons = provenance.Reasons

// GoalSource returns the source that asks for a goal, as part of a program.
func GoalSource(goal string) Source {
	return Text(goalFile, goalHead+strings.TrimRight(strings.TrimSpace(goal), ".?")+".")
}

// Why runs the program over loaded facts and explains the goal that is among
// its sources, by trees of at most depth levels, or whole ones for a depth of
// 0. The run is on the go engine, whatever the options say. Constraints are not
// tested.
func (p *Program) Why(ctx context.Context, db *Database, opts RunOptions,
	depth int) (*Reasons, error) {
	rule, err := p.goal()
	if err != nil || rule == nil {
		return &Reasons{Goal: p.goalText()}, err
	}
	opts.Engine, opts.Device, opts.Outputs = EngineGo, "", p.reaching(rule)
	tables, err := p.tables(ctx, db, opts)
	if err != nil {
		return nil, err
	}
	return p.reasons(ctx, rule, tables, depth)
}

// GoalPredicates lists the predicates whose facts and tuples Why looks at.
func (p *Program) GoalPredicates() ([]string, error) {
	rule, err := p.goal()
	if err != nil || rule == nil {
		return []string{}, err
	}
	return p.reaching(rule), nil
}

// Why explains a goal over the contents of a workspace, as Program.Why does.
// What it computes is kept until a transaction changes the contents.
func (s *Session) Why(ctx context.Context, w *Workspace, goal string,
	opts RunOptions, depth int) (*Reasons, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.compileDeriving(ctx, []Source{GoalSource(goal)})
	if err != nil {
		return nil, err
	}
	p := t.program
	rule, err := p.goal()
	if err != nil || rule == nil {
		return &Reasons{Goal: p.goalText()}, err
	}
	opts = s.complete(opts)
	opts.Engine, opts.Device = EngineGo, ""
	opts.Outputs = p.reaching(rule)
	if w.explained.version != w.version || w.explained.tables == nil {
		w.explained = explained{w.version, map[string]*provenance.Table{}}
	}
	kept := w.explained.tables
	if slices.ContainsFunc(opts.Outputs, func(name string) bool { return kept[name] == nil }) {
		db, err := w.load(ctx, p, opts)
		if err != nil {
			return nil, err
		}
		tables, err := p.tables(ctx, db, opts)
		if err != nil {
			return nil, err
		}
		for name, t := range tables {
			if kept[name] == nil {
				kept[name] = t
			}
		}
	}
	return p.reasons(ctx, rule, kept, depth)
}

// compileDeriving compiles a goal as a transaction. Tuples that earlier
// questions have left stored are derived again, because a stored tuple has no
// rule.
func (w *Workspace) compileDeriving(ctx context.Context, sources []Source) (*step, error) {
	front := w.front
	defer func() { w.front = front }()
	w.front = front.Deriving()
	return w.compile(ctx, sources, frontend.Execution)
}

// explained is the tuples of a version of a workspace that goals were about.
type explained struct {
	version int
	tables  map[string]*provenance.Table
}

// goal returns the rule of the goal; nil if the goal can never hold.
func (p *Program) goal() (*core.Rule, error) {
	if p.core == nil || !slices.ContainsFunc(p.core.Files, isGoal) {
		return nil, &InternalError{Phase: "explaining", Err: fmt.Errorf("the program has no goal")}
	}
	for _, s := range p.core.Strata {
		for _, r := range s.Rules {
			if isGoal(r.Span.File) && r.Head.Pred.Query {
				return r, nil
			}
		}
	}
	return nil, nil
}

// goalText returns the goal as it was asked.
func (p *Program) goalText() string {
	for _, f := range p.core.Files {
		if isGoal(f) {
			return strings.TrimSuffix(strings.TrimPrefix(f.Text, goalHead), ".")
		}
	}
	return ""
}

func isGoal(f *source.File) bool { return f.Name == goalFile }

// reaching lists the predicates that the rules for a goal read, directly or
// not, and those that make the entities in them.
func (p *Program) reaching(goal *core.Rule) (names []string) {
	rules := map[*core.Pred][]*core.Rule{}
	for _, s := range p.core.Strata {
		for _, r := range s.Rules {
			rules[r.Head.Pred] = append(rules[r.Head.Pred], r)
		}
	}
	seen := map[*core.Pred]bool{}
	var body func([]core.Literal)
	var add func(*core.Pred)
	add = func(q *core.Pred) {
		if seen[q] {
			return
		}
		seen[q] = true
		names = append(names, q.Name)
		for _, a := range q.Args {
			if a.Family != nil {
				for _, maker := range a.Family.Makers {
					add(maker)
				}
			}
		}
		for _, r := range rules[q] {
			body(r.Body)
		}
	}
	body = func(literals []core.Literal) {
		for _, l := range literals {
			switch l := l.(type) {
			case *core.Atom:
				add(l.Pred)
			case *core.Not:
				body(l.Body)
			}
		}
	}
	body(goal.Body)
	return names
}

// whyDisabled are the passes that would keep a rule from deriving its tuples
// round by round, as it is written.
var whyDisabled = []string{"InlinePredicates", "UnfoldJoins", "RestrictToDemand",
	"SplitRecursiveRules"}

// tables runs the program and returns the tuples of the outputs in the order of
// the rounds that found them.
func (p *Program) tables(ctx context.Context, db *Database,
	opts RunOptions) (map[string]*provenance.Table, error) {
	chosen, err := p.choose(process.Machine, db, opts)
	if err != nil {
		return nil, err
	}
	plan := queryplan.Clone(p.plan)
	for _, b := range plan.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool {
			_, ok := c.(*queryplan.Check)
			return ok
		})
	}
	for _, v := range plan.Vars {
		v.Output = v.Kind != queryplan.Input && slices.Contains(opts.Outputs, v.Name)
		v.OrderBy, v.Limit = nil, -1
	}
	steps := p.steps(plan, opts.Outputs)
	for _, v := range steps {
		v.Output = true
	}
	plan, _, err = rewrite.Run(plan, db.catalog(), rewrite.Options{
		Disable: append(slices.Clone(p.disable), whyDisabled...), Verify: true})
	if err != nil {
		return nil, &InternalError{Phase: "the optimiser", Err: err}
	}
	q := &Prepared{program: p, db: db, pool: process, engine: chosen, plan: plan}
	var answered *runtime.Answer
	if err := q.with(ctx, func(e runtime.Engine) error {
		req := q.request(opts)
		req.Rounds, req.NoDecompose = true, true
		answered, err = e.Run(ctx, req)
		if opts.Spill != "" && CouldSpill(err) {
			answered, err = spill.Run(ctx, e, req, spill.Options{Folder: opts.Spill})
		}
		return err
	}); err != nil {
		return nil, err
	}
	out := map[string]*provenance.Table{}
	for _, v := range p.plan.Vars {
		switch rel := answered.Outputs[v.Name]; {
		case steps[v.Name] != nil:
			name := steps[v.Name].Name
			out[v.Name] = provenance.NewBest(answered.Outputs[name], answered.Rounds[name], v.Keys)
		case rel != nil:
			out[v.Name] = provenance.NewTable(rel, answered.Rounds[v.Name])
		case v.Kind == queryplan.Input && slices.Contains(opts.Outputs, v.Name):
			out[v.Name] = provenance.NewTable(db.relation(v), nil)
		}
	}
	return out, nil
}

// steps returns the variables of the steps, by the names of the outputs that
// are the last steps of their keys.
func (p *Program) steps(plan *queryplan.Plan, outputs []string) map[string]*queryplan.Var {
	improves := map[string]bool{}
	for _, s := range p.core.Strata {
		for _, pred := range s.Preds {
			improves[pred.Name] = s.Recursive && pred.Improves() &&
				slices.Contains(outputs, pred.Name)
		}
	}
	steps := map[string]*queryplan.Var{}
	for _, b := range plan.Blocks {
		for _, c := range b.Cmds {
			if in, ok := c.(*queryplan.Insert); ok && improves[in.Var.Name] {
				// The only rows that it ever gets are those of its steps.
				steps[in.Var.Name] = queryplan.Scans(in.Node)[0].Var
			}
		}
	}
	return steps
}

// reasons explains the goal over tables.
func (p *Program) reasons(ctx context.Context, rule *core.Rule,
	tables map[string]*provenance.Table, depth int) (r *Reasons, err error) {
	defer failure.Recover("explaining", &err)
	r, err = provenance.New(p.core, tables).Explain(ctx, rule, p.goalText(), depth)
	var bug *provenance.UnexplainedError
	if errors.As(err, &bug) {
		err = &InternalError{Phase: "explaining", Err: err}
	}
	return r, err
}
