package emit

import (
	"errors"

	"github.com/redfoxdb/redfox/harmony"
)

// group adds the live rows to groups.
func (w *kernel) group(s *harmony.Group) error {
	return errors.New("groups have no code")
}
