package lower

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/queryplan"
)

// mystery is an operator that lowering knows nothing of.
type mystery struct{ cols []queryplan.Column }

func (n *mystery) Columns() []queryplan.Column { return n.cols }
func (n *mystery) Inputs() []queryplan.Node    { return nil }

// TestSurvivor holds that an operator without a lowering is an error with the
// place of its rule, and so is what only later phases may make.
func TestSurvivor(t *testing.T) {
	p, err := queryplan.Parse("test.plan", `var d(x: int) derived output
block b0:
  insert d
    values (x: int)
  merge d
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	insert := p.Blocks[0].Cmds[0].(*queryplan.Insert)
	values := insert.Node
	insert.Node = &queryplan.Filter{Input: &mystery{values.Columns()}, Cond: &queryplan.Const{}}
	file := source.NewFile("program.logic", "\nd(x) <- mystery(x).")
	insert.Span = source.Span{File: file, Start: 1, End: len(file.Text)}
	var survivor *SurvivorError
	_, err = Lower(p)
	if want := "block b0, insert d: lowering leaves *lower.mystery of program.logic:2:1"; !errors.As(err, &survivor) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	insert.Node = values
	out, err := Lower(p)
	if err != nil {
		t.Fatal(err)
	}
	k := out.Kernels()[0]
	k.Sinks = append(k.Sinks, k.Sinks[0])
	if err := checkLegal(out); !errors.As(err, &survivor) {
		t.Errorf("a kernel with two sinks: %v", err)
	}
	k.Sinks = k.Sinks[:1]
	k.Stages = append(k.Stages, nil)
	if err := checkLegal(out); !errors.As(err, &survivor) {
		t.Errorf("a kernel with an unknown stage: %v", err)
	}
}
