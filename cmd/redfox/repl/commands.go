package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// command is one that begins with a colon.
type command struct {
	name, args, does string
	do               func(p *Prompt, ctx context.Context, arg string) error
}

var errQuit = errors.New("quit")

// commands lists the commands in the order of the help.
var commands []command

func init() { // the help lists the commands
	commands = []command{
		{"load", "FILE...", "add files to the program", (*Prompt).load},
		{"facts", "DIR | PRED=FILE", "read facts, and begin anew with them", (*Prompt).addFacts},
		{"list", "", "list the predicates", (*Prompt).list},
		{"type", "PRED", "show the declaration of a predicate", (*Prompt).typeOf},
		{"print", "PRED", "print the tuples of a predicate", (*Prompt).printAll},
		{"explain", "FORMULA | PRED", "show the plan of a question", (*Prompt).explain},
		{"why", "FORMULA", "show why it holds, or why it does not", (*Prompt).why},
		{"why-not", "FORMULA", "the same", (*Prompt).why},
		{"limit", "N", "print at most N tuples of an answer; 0 means all", (*Prompt).setLimit},
		{"help", "", "show this", (*Prompt).help},
		{"quit", "", "end", func(*Prompt, context.Context, string) error { return errQuit }},
	}
}

// promptError is a mistake at the prompt.
type promptError struct{ message, help string }

// Error returns the message and the advice.
func (e *promptError) Error() string { return e.message + "; " + e.help }

// command runs a command, which may be cut short: :q is :quit.
func (p *Prompt) command(ctx context.Context, line string) (quit bool, err error) {
	name, arg, _ := strings.Cut(strings.TrimPrefix(line, ":"), " ")
	arg = strings.TrimSpace(arg)
	var names []string
	for _, c := range commands {
		names = append(names, ":"+c.name)
		if name == "" || !strings.HasPrefix(c.name, name) {
			continue
		}
		if c.args != "" && arg == "" {
			return false, &promptError{":" + c.name + " needs to know what",
				"write :" + c.name + " " + c.args}
		}
		err := c.do(p, ctx, arg)
		if err == errQuit {
			return true, nil
		}
		return false, err
	}
	help := "the commands are " + strings.Join(names, " ")
	if s, ok := diag.Suggest(":"+name, names); ok {
		help = "did you mean " + s + "?"
	}
	return false, &promptError{"there is no command :" + name, help}
}

func (p *Prompt) help(context.Context, string) error {
	fmt.Fprintln(p.out, "p(1, 2).                 add a fact, a rule, a declaration or a constraint")
	fmt.Fprintln(p.out, "+p(1, 2).                insert a tuple; -p(1, 2). deletes it")
	fmt.Fprintln(p.out, "p(1, x), x > 2?          ask for the values of variables")
	fmt.Fprintln(p.out, "_(x) <- p(1, x).         the same, with the answer's columns chosen")
	for _, c := range commands {
		fmt.Fprintf(p.out, "%-24s %s\n", strings.TrimSpace(":"+c.name+" "+c.args), c.does)
	}
	return nil
}

func (p *Prompt) load(ctx context.Context, arg string) error {
	sources, err := driver.ReadSources(strings.Fields(arg)...)
	if err != nil {
		return err
	}
	return p.transact(ctx, driver.Transaction{Sources: sources, Install: true})
}

// addFacts reads facts. What was typed before is run again over them.
func (p *Prompt) addFacts(ctx context.Context, arg string) error {
	if strings.Contains(arg, "=") {
		file, err := driver.ParseFact(arg)
		if err != nil {
			return err
		}
		p.Facts.Add(file)
	} else {
		p.Facts.Dir(arg)
	}
	return p.open(ctx)
}

// whyDepth bounds the levels of a derivation at the prompt.
const whyDepth = 10

// why shows a derivation of a formula, or why there is none.
func (p *Prompt) why(ctx context.Context, formula string) error {
	reasons, err := p.session.Why(ctx, p.space, formula, p.Run, whyDepth)
	if err != nil {
		return err
	}
	return reasons.WriteText(p.out)
}

// predicates lists what a user may name, sorted.
func (p *Prompt) predicates(ctx context.Context) ([]driver.Predicate, error) {
	prog, err := p.space.Program(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(prog.Predicates(),
		func(q driver.Predicate) bool { return q.Query }), nil
}

func (p *Prompt) predicate(ctx context.Context, name string) (driver.Predicate, error) {
	all, err := p.predicates(ctx)
	if err != nil {
		return driver.Predicate{}, err
	}
	var names []string
	for _, q := range all {
		if q.Name == name {
			return q, nil
		}
		names = append(names, q.Name)
	}
	help := ":list shows those that there are"
	if s, ok := diag.Suggest(name, names); ok {
		help = "did you mean " + s + "?"
	}
	return driver.Predicate{}, &promptError{"there is no predicate " + name, help}
}

// shape returns the predicate as an atom with the names of its arguments.
func shape(q driver.Predicate) string {
	var names []string
	for _, c := range q.Columns {
		names = append(names, c.Name)
	}
	return core.AtomText(q.Name, q.Keys, names)
}

func (p *Prompt) list(ctx context.Context, _ string) error {
	all, err := p.predicates(ctx)
	for _, q := range all {
		kind := "holds facts"
		if q.Derived {
			kind = "derived"
		}
		fmt.Fprintf(p.out, "%-30s %s\n", shape(q), kind)
	}
	return err
}

func (p *Prompt) typeOf(ctx context.Context, name string) error {
	q, err := p.predicate(ctx, name)
	if err != nil {
		return err
	}
	var types []string
	for _, c := range q.Columns {
		types = append(types, fmt.Sprintf("%s(%s)", c.Type, c.Name))
	}
	fmt.Fprintf(p.out, "%s -> %s.\n", shape(q), strings.Join(types, ", "))
	return nil
}

func (p *Prompt) printAll(ctx context.Context, name string) error {
	if _, err := p.predicate(ctx, name); err != nil {
		return err
	}
	opts := p.Run
	opts.Outputs = []string{name}
	res, err := p.session.Read(ctx, p.space, opts)
	if err != nil {
		return err
	}
	return p.print(res, name)
}

// explain shows the plan of a question over the program as it is now.
func (p *Prompt) explain(ctx context.Context, formula string) error {
	if q, err := p.predicate(ctx, formula); err == nil {
		formula = shape(q)
		if keys, value, ok := strings.Cut(formula, " = "); ok {
			formula = keys + " = " + value
		}
	}
	formula = strings.TrimRight(formula, "?. ")
	sources := slices.Clone(p.Sources)
	for _, t := range p.history {
		if t.Install {
			sources = append(sources, t.Sources...)
		}
	}
	_, vars, err := p.solve(ctx, formula)
	if err != nil {
		return err
	}
	sources = append(sources, driver.Text("<question>",
		"_("+strings.Join(vars, ", ")+") <- "+formula+"."))
	prog, err := driver.Compile(ctx, sources, p.Program)
	if err != nil {
		return err
	}
	return prog.Explain(ctx, p.out, nil, driver.ExplainOptions{RunOptions: p.Run})
}

func (p *Prompt) setLimit(_ context.Context, arg string) error {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 0 {
		return &promptError{arg + " is no number of tuples", "write :limit 20, or :limit 0 for all"}
	}
	p.Limit = n
	return nil
}

// functions lists the functions of the language.
func functions() []string { return scalar.Names() }
