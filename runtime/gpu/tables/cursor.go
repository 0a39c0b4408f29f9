package tables

import (
	"context"

	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
)

// cursor is how far kernels have filled a relation or groups, as far as the
// host knows, and how far they may fill it.
type cursor struct {
	run   *State
	Gauge int // the word of its gauge in the control block
	// Most is the cursor. If Dirty, kernels in the stream may still move it,
	// and Most is an upper bound.
	Most  int64
	Dirty bool
	Limit int64 // the limit of the gauge on the device

	reached, earlier replay.Size // the sizes in this run and in an earlier one
}

// count returns the cursor. It waits for kernels that may move it.
func (c *cursor) count(ctx context.Context) (int64, error) {
	if c.Dirty {
		if err := c.run.Numbers(ctx); err != nil {
			return 0, err
		}
	}
	return c.Most, nil
}

// settle reads the cursor from the mirror, which must be fresh.
func (c *cursor) settle() {
	if c.Dirty {
		c.Most, c.Dirty = c.run.Control.Mirror[c.Gauge], false
	}
}

// reach updates reached, if the cursor is known.
func (c *cursor) reach() {
	if !c.Dirty {
		c.reached.Rows = max(c.reached.Rows, c.Most)
	}
}

// setLimit sets the limit so that slack rows always fit a table with room for
// room rows. all is the largest possible number of rows. A launch that adds at
// most most rows needs no limit if all of them fit.
func (c *cursor) setLimit(ctx context.Context, room, all, slack, most int64) error {
	limit := int64(device.Unlimited)
	if room < all {
		if c.Limit <= room && c.Most+most <= c.Limit || c.Limit == device.Unlimited &&
			c.Most+most <= room {
			return nil
		}
		limit = room - slack
	}
	if limit == c.Limit {
		return nil
	}
	c.Limit = limit
	return c.run.Control.Set(ctx, c.Gauge+1, limit)
}
