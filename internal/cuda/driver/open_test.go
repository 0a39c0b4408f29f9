package driver

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// otherDriver is another implementation.
type otherDriver struct{ Driver }

// TestUse puts another implementation into the place of package cuda's, and
// takes it back.
func TestUse(t *testing.T) {
	undo := Use(func() (Driver, error) { return otherDriver{}, nil })
	if d, err := Open(); d != (otherDriver{}) || err != nil {
		t.Errorf("opened %T, %v", d, err)
	}
	undo()
	d, err := Open()
	var none *cuda.NotFoundError
	switch _, own := d.(native); {
	case own && err == nil:
	case d == nil && errors.As(err, &none):
	default:
		t.Errorf("opened %T, %v", d, err)
	}
}
