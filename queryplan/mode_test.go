package queryplan

import (
	"strings"
	"testing"
)

const modePlan = `var near(x: int, y: int) input "near"
var label(x: int; value: int) derived output
var votes(x: int, l: int; n: int) temp unique
var most(x: int; n: int) temp unique
var now(x: int; value: int) temp unique
var rounds(round: int) derived
block b0:
  assign now
    dedup
      project x, x as value
        scan near(x, _)
  insert rounds
    values (round: int)
      (0)
  merge rounds
  jump b1
block b1:
  assign votes
    aggregate [x, l] n: int = count()
      join y
        scan now(y, l)
        scan near(x, y)
  assign most
    aggregate [x] n: int = max(v)
      scan votes(x, _, v)
  assign now
    project x, l as value
      aggregate [x] l: int = min(m)
        unique semi join x, $1
          scan votes(x, m, $1)
          scan most(x, $1)
  insert rounds
    project round
      filter lt(round, 20)
        map round = add(before, 1)
          scan delta rounds(before)
  merge rounds
  branch delta rounds -> b1 else b2
block b2:
  insert label
    scan now(x, value)
  merge label
  halt
`

// TestModes holds that the modes of a round are found, and that commands which
// only look like them are none.
func TestModes(t *testing.T) {
	for _, test := range []struct {
		what     string
		old, new string
		modes    int
	}{
		{"a mode", "", "", 1},
		{"the greatest of several", "min(m)", "max(m)", 1},
		{"an inner join", "unique semi join", "unique join", 1},
		{"the least count", "max(v)", "min(v)", 0},
		{"a total", "min(m)", "total(m)", 0},
		{"values without the count", "semi join", "anti join", 0},
		{"counts that are read again", "scan now(x, value)\n", "scan votes(x, value, _)\n", 0},
		{"maxima that are read again", "scan now(x, value)\n", "scan most(x, value)\n", 0},
		{"counts that are filled again", "assign most\n", "assign votes\n    aggregate [x, l] n: int = " +
			"count()\n      join y\n        scan now(y, l)\n        scan near(x, y)\n  assign most\n", 0},
	} {
		p, err := Parse("test.plan", strings.Replace(modePlan, test.old, test.new, 1))
		if err == nil {
			err = Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		found := NewFlow(p).Modes(p.Blocks[1])
		if len(found) != test.modes {
			t.Errorf("%s: %d modes, want %d", test.what, len(found), test.modes)
		}
		for _, m := range found {
			if m.Value != 1 || len(m.By) != 1 || m.By[0] != 0 {
				t.Errorf("%s: the value is column %d, the groups are %v", test.what, m.Value, m.By)
			}
		}
	}
}
