package starprog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Refusal is why a program has no answer.
type Refusal string

// The refusals. Keys are looked at first: a constraint over a function with two
// values says nothing.
const (
	Answered Refusal = ""
	Conflict Refusal = "a key has two values"
	Violated Refusal = "a constraint is violated"
	Overflow Refusal = "a total does not fit"
)

// Excuses reports whether another evaluation of the program may end with the
// refusal o although this one ends with r. An engine computes no total that
// nothing reads, and where a program has several mistakes, the first one that
// is found is reported. A total that is not there never overflows, though.
func (r Refusal) Excuses(o Refusal) bool {
	return r == o || r == Overflow || r != Answered && o == Overflow
}

// Answer is what a program says: tuples of its outputs as lines of text, or a
// refusal. Lines are sorted unless the program orders them.
type Answer struct {
	Refusal Refusal
	Rows    map[string][]string
}

// Line is a tuple as a line.
func Line(values []scalar.Value) string {
	return strings.Join(list.Map(values, scalar.Format), "\t")
}

// Add adds the lines of an output.
func (a *Answer) Add(o *Pred, lines []string) {
	if a.Rows == nil {
		a.Rows = map[string][]string{}
	}
	if len(o.OrderBy) == 0 && o.Limit == 0 {
		slices.Sort(lines)
	}
	a.Rows[o.Name] = lines
}

// Difference says where another answer differs, "" if nowhere.
func (a *Answer) Difference(p *Program, got *Answer) string {
	if !a.Refusal.Excuses(got.Refusal) {
		return fmt.Sprintf("got %s, want %s", got.summary(), a.summary())
	}
	for _, o := range p.Outputs {
		if have, want := got.Rows[o.Name], a.Rows[o.Name]; a.Refusal == Answered &&
			!slices.Equal(have, want) {
			return fmt.Sprintf("%s differs\ngot %d tuples:\n%swant %d tuples:\n%s", o.Name,
				len(have),
				block(have), len(want), block(want))
		}
	}
	return ""
}

func (a *Answer) summary() string {
	if a.Refusal != Answered {
		return "a refusal: " + string(a.Refusal)
	}
	n := 0
	for _, rows := range a.Rows {
		n += len(rows)
	}
	return fmt.Sprintf("an answer of %d tuples", n)
}

// block shows the first lines.
func block(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if i == 25 {
			b.WriteString("  ...\n")
			break
		}
		b.WriteString("  " + l + "\n")
	}
	return b.String()
}

// Oracle says what the answer of a program is. ErrUndecided is its error for a
// program that it cannot decide.
type Oracle interface {
	Answer(p *Program) (*Answer, error)
}

// ErrUndecided is the error of a program that is too large for brute force or
// whose numbers DuckDB does not hold.
var ErrUndecided = errors.New("the oracle does not know the answer")

// BruteForce is internal/reference/oracle, with a bound of the tuples that it
// matches.
type BruteForce struct{ Steps int64 }

// Answer evaluates the LogiQL of the program.
func (b BruteForce) Answer(p *Program) (*Answer, error) {
	program, found := frontend.Compile([]*source.File{source.NewFile("program.logic", p.Text())},
		frontend.Options{})
	if program == nil {
		i := slices.IndexFunc(found, func(d *diag.Diagnostic) bool {
			return d.Severity == diag.Error
		})
		return nil, fmt.Errorf("the program is refused: %s", found[i].Message)
	}
	facts := oracle.Facts{}
	for _, s := range p.Stored {
		for _, t := range p.Data.Tuples(s) {
			facts[s.Name] = append(facts[s.Name], t)
		}
	}
	result, err := oracle.RunBounded(program, facts, b.Steps)
	var conflict *oracle.KeyError
	var overflow *oracle.OverflowError
	switch {
	case errors.Is(err, oracle.ErrTooLarge):
		return nil, ErrUndecided
	case errors.As(err, &conflict):
		return &Answer{Refusal: Conflict}, nil
	case errors.As(err, &overflow):
		return &Answer{Refusal: Overflow}, nil
	case err != nil:
		return nil, err
	case len(result.Violations) > 0:
		return &Answer{Refusal: Violated}, nil
	}
	out := &Answer{}
	for _, o := range p.Outputs {
		var lines []string
		for _, t := range result.Tuples[o.Name] {
			lines = append(lines, Line(t))
		}
		out.Add(o, lines)
	}
	return out, nil
}

// Peer is DuckDB with the tables of the data that it was last asked about.
type Peer struct {
	db     *suite.DuckDB
	tables []*Table
}

// StartPeer starts DuckDB in a Python that has it.
func StartPeer(ctx context.Context, python string) (*Peer, error) {
	db, err := suite.StartDuckDB(ctx, python, 1)
	if err != nil {
		return nil, err
	}
	// DuckDB 2.0.0 answers 1, not 0, to
	//
	//	with r as (select row_number() over (order by x) - 1 i from (values (7)) v(x)),
	//	s as (select distinct i from r where i < 5) select distinct r.i from r, s where r.i = s.i
	//
	// unless this step of its optimiser is off.
	const limitsOfWindows = "set disabled_optimizers = 'top_n_window_elimination'"
	for _, sql := range []string{divRound, wrap64, "set memory_limit = '1GB'", limitsOfWindows} {
		if err := db.Execute(sql); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return &Peer{db: db}, nil
}

// Version is DuckDB's.
func (d *Peer) Version() string { return d.db.Version }

// Close ends the process.
func (d *Peer) Close() error { return d.db.Close() }

// Answer evaluates the SQL of the program.
func (d *Peer) Answer(p *Program) (*Answer, error) {
	if !slices.Equal(d.tables, p.Data.Tables) {
		sql := DataSQL(p.Data)
		for _, t := range d.tables { // others may have them no more
			sql = append([]string{"drop table if exists " + quoted(t.Name)}, sql...)
		}
		d.tables = nil
		for _, sql := range sql {
			if err := d.db.Execute(sql); err != nil {
				return nil, err
			}
		}
		d.tables = slices.Clone(p.Data.Tables)
	}
	for _, o := range p.Outputs {
		if o.Risky {
			if n, err := d.count(p.ConflictSQL(o)); err != nil || n > 0 {
				return &Answer{Refusal: Conflict}, err
			}
		}
	}
	for _, c := range p.Constraints {
		if n, err := d.count(p.ViolationSQL(c)); err != nil || n > 0 {
			return &Answer{Refusal: Violated}, err
		}
	}
	out := &Answer{}
	for _, o := range p.Outputs {
		sql, err := p.AnswerSQL(o)
		if err != nil {
			return nil, err
		}
		answer, err := d.query(sql)
		if err != nil {
			return nil, err
		}
		var lines []string
		for _, row := range answer.Rows {
			for i, a := range o.Args {
				if a.Type.Kind == scalar.Float { // DuckDB writes 2.0 and 1e+20 its own way
					v, err := scalar.ParseText(a.Type, row[i])
					if err != nil {
						return nil, err
					}
					row[i] = scalar.Format(v)
				}
			}
			lines = append(lines, strings.Join(row, "\t"))
		}
		out.Add(o, lines)
	}
	return out, nil
}

// count asks a query for its one number.
func (d *Peer) count(sql string, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	answer, err := d.query(sql)
	if err != nil {
		return 0, err
	}
	var n int
	_, err = fmt.Sscan(answer.Rows[0][0], &n)
	return n, err
}

// query runs a query. Values of more than 38 digits, and answers beyond the
// bound of memory, leave it undecided.
func (d *Peer) query(sql string) (*suite.Answer, error) {
	_, answer, err := d.db.Query(sql, 0, 0)
	switch {
	case err == nil:
		return answer, nil
	case strings.Contains(err.Error(), "Out of Range Error"),
		strings.Contains(err.Error(), "Conversion Error"),
		strings.Contains(err.Error(), "Out of Memory Error"):
		return nil, fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	return nil, fmt.Errorf("%w\n%s", err, sql)
}
