package redfox

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/redfoxdb/redfox/internal/driver"
)

// Reasons says why a goal holds, or why it does not.
type Reasons struct{ reasons *driver.Reasons }

// Why explains a goal over the contents of the workspace: a tuple, such as
// path(1, 3), or another formula, of which one solution is explained. A goal
// that holds gets a derivation, and one that does not, each rule that could
// derive it, with the part at which it fails. Trees are at most depth levels
// deep; a depth of 0 is no bound.
//
// The first goal after a transaction runs the installed program, with the
// threads and bounds of opts. Later ones look at the same tuples.
func (w *Workspace) Why(ctx context.Context, goal string, depth int,
	opts RunOptions) (*Reasons, error) {
	r, err := w.session.Why(ctx, w.workspace, goal, opts.driver(), depth)
	if err != nil {
		return nil, public(err)
	}
	return &Reasons{r}, nil
}

// Holds reports whether the goal holds.
func (r *Reasons) Holds() bool { return r.reasons.Holds }

// String returns the trees as text, as `redfox why` prints them.
func (r *Reasons) String() string {
	var b strings.Builder
	r.reasons.WriteText(&b) // a builder takes everything
	return b.String()
}

// MarshalJSON returns the trees as `redfox why --format json` prints them.
func (r *Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(r.reasons) }
