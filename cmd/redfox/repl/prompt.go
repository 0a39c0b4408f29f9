package repl

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/driver"
)

// Options are what a prompt is opened with.
type Options struct {
	Sources []driver.Source // the program
	Facts   *driver.Facts
	Program driver.Options
	Run     driver.RunOptions
	Limit   int64 // tuples of an answer that are printed; 0 means all
	// Report prints an error, Warn prints diagnostics that are none.
	Report func(error)
	Warn   func([]*driver.Diagnostic)
}

// Prompt is a conversation about one workspace.
type Prompt struct {
	Options
	session *driver.Session
	out     io.Writer
	space   *driver.Workspace
	// history are the transactions that made the workspace, in order.
	history []driver.Transaction
	pending string // a clause that has not ended
	inputs  int    // that have been executed
}

// Open runs the program, and returns a prompt over what it leaves.
func Open(ctx context.Context, session *driver.Session, out io.Writer, opts Options) (*Prompt,
	error) {
	p := &Prompt{Options: opts, session: session, out: out}
	return p, p.open(ctx)
}

// open makes the workspace anew: facts that are named later count from the
// beginning.
func (p *Prompt) open(ctx context.Context) error {
	space, err := p.session.OpenWorkspace(ctx, p.Sources, p.Facts, p.Program, p.Run)
	if err != nil {
		return err
	}
	p.Warn(space.Warnings())
	for _, t := range p.history {
		if _, err := p.session.Exec(ctx, space, t, p.Run); err != nil {
			return err
		}
	}
	p.space = space
	return nil
}

// Pending reports whether the text so far ends within a clause.
func (p *Prompt) Pending() bool { return p.pending != "" }

// Abandon forgets a clause that has not ended.
func (p *Prompt) Abandon() { p.pending = "" }

// Line takes a line, and reports whether it ends the conversation. Errors are
// printed; none of them ends it.
func (p *Prompt) Line(ctx context.Context, line string) (quit bool) {
	if p.Pending() && isCommand().MatchString(line) && strings.Count(p.pending, `"""`)%2 == 0 {
		p.Report(&promptError{strings.TrimSpace(p.pending) + " has no end and is dropped",
			"a clause ends with a full stop, a question with a question mark"})
		p.Abandon()
	}
	if p.pending == "" {
		line = strings.TrimSpace(line)
		if line == "" {
			return false
		}
		if strings.HasPrefix(line, ":") {
			quit, err := p.command(ctx, line)
			if err != nil {
				p.Report(err)
			}
			return quit
		}
	}
	text := p.pending + line
	if !ended(text) {
		p.pending = text + "\n"
		return false
	}
	p.pending = ""
	if err := p.execute(ctx, text); err != nil {
		p.Report(err)
	}
	return false
}

// isCommand matches a line that cannot go on with a clause.
var isCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*:[a-z]`)
})

// ended reports whether a text ends with a full stop, or with the question mark
// of a question, outside of brackets and comments.
func ended(text string) bool {
	tokens := tokensOf(text)
	if len(tokens) == 0 {
		return true
	}
	open := 0
	for _, t := range tokens {
		switch t {
		case "(", "[", "{", "`{":
			open++
		case ")", "]", "}":
			open--
		}
	}
	last := tokens[len(tokens)-1]
	return open <= 0 && (strings.HasSuffix(last, ".") || last == "?")
}

// tokensOf returns the texts of the tokens that are no comments.
func tokensOf(text string) []string {
	var out []string
	for _, t := range parse.Tokens(source.NewFile("", text)) {
		if t.Kind != parse.Comment {
			out = append(out, t.Span.Text())
		}
	}
	return out
}

// kind is what a clause does at the prompt.
type kind uint8

const (
	installs kind = iota // becomes part of the program
	changes              // is executed once
	asks
)

// execute takes clauses. Those with a query among them are executed together;
// others are taken in turn.
func (p *Prompt) execute(ctx context.Context, text string) error {
	if q, ok := strings.CutSuffix(strings.TrimSpace(text), "?"); ok {
		return p.ask(ctx, q)
	}
	p.inputs++
	name := fmt.Sprintf("<input %d>", p.inputs)
	file := parse.File(source.NewFile(name, text), &diag.List{})
	kinds := make([]kind, len(file.Clauses))
	for i, c := range file.Clauses {
		kinds[i] = kindOf(c)
	}
	if slices.Contains(kinds, asks) {
		return p.transact(ctx, driver.Transaction{
			Sources: []driver.Source{driver.Text(name, text)}})
	}
	mixed := slices.Contains(kinds, changes) && slices.Contains(kinds, installs)
	if !mixed {
		return p.transact(ctx, driver.Transaction{
			Sources: []driver.Source{driver.Text(name, text)},
			Install: !slices.Contains(kinds, changes)})
	}
	for i, c := range file.Clauses {
		t := driver.Transaction{Install: kinds[i] == installs,
			Sources: []driver.Source{driver.Text(name, c.Span.Text())}}
		if err := p.transact(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// kindOf tells what a clause does: a query asks, and a delta rule that reads no
// event changes something once.
func kindOf(c *ast.Clause) kind {
	out := installs
	ast.Inspect(c.Left, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok {
			switch {
			case a.Name.Text == "_":
				out = asks
			case a.Delta != "":
				out = changes
			}
		}
		return out == installs
	})
	if out == changes {
		ast.Inspect(c.Right, func(n ast.Node) bool {
			if a, ok := n.(*ast.Apply); ok && a.Delta != "" {
				out = installs
			}
			return true
		})
	}
	return out
}

// transact runs a transaction, remembers it unless it only asks, and prints its
// answers.
func (p *Prompt) transact(ctx context.Context, t driver.Transaction) error {
	res, err := p.session.Exec(ctx, p.space, t, p.Run)
	if err != nil {
		return err
	}
	p.Warn(p.space.Warnings())
	p.history = append(p.history, t)
	for _, name := range res.Predicates() {
		if err := p.print(res, name); err != nil {
			return err
		}
	}
	return nil
}

// print prints an answer, cut off at the limit.
func (p *Prompt) print(res *driver.Result, name string) error {
	err := res.Write(p.out, name, driver.Table, driver.WriteOptions{Limit: p.Limit})
	if more := res.Len(name) - p.Limit; err == nil && p.Limit > 0 && more > 0 {
		fmt.Fprintf(p.out, "%d more; :limit 0 shows all\n", more)
	}
	return err
}

// ask answers a formula: with the values of its variables, or with yes or no.
func (p *Prompt) ask(ctx context.Context, formula string) error {
	res, vars, err := p.solve(ctx, formula)
	switch {
	case err != nil:
		return err
	case len(vars) > 0:
		return p.print(res, "_")
	case res.Len("_") > 0:
		fmt.Fprintln(p.out, "yes")
	default:
		fmt.Fprintln(p.out, "no")
	}
	return nil
}

// solve asks for the values of the variables of a formula.
func (p *Prompt) solve(ctx context.Context, formula string) (*driver.Result, []string, error) {
	list := &diag.List{}
	file := parse.File(source.NewFile("<question>", "_() <- "+formula+"."), list)
	var vars []string
	if len(file.Clauses) == 1 {
		vars = boundVariables(file.Clauses[0].Right)
	}
	head := "_(" + strings.Join(vars, ", ") + ")"
	res, err := p.session.Exec(ctx, p.space, driver.Transaction{Sources: []driver.Source{
		driver.Text("<question>", head+" <- "+formula+".")}}, p.Run)
	return res, vars, err
}

// boundVariables lists the named variables of a formula that have a value
// wherever it holds: none that stand under negation alone, or in a part of the
// alternatives.
func boundVariables(n ast.Node) []string {
	switch n := n.(type) {
	case nil, *ast.Not:
		return nil
	case *ast.Var:
		return []string{n.Name}
	case *ast.Disj:
		var out []string
		for i, x := range n.Items {
			vars := boundVariables(x)
			if i == 0 {
				out = vars
			}
			out = slices.DeleteFunc(out, func(v string) bool { return !slices.Contains(vars, v) })
		}
		return out
	}
	var out []string
	for _, x := range ast.Children(n) {
		for _, v := range boundVariables(x) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}
