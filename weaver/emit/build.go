package emit

import (
	"errors"

	"github.com/redfoxdb/redfox/harmony"
)

// build emits what makes an index.
func (m *module) build(x *harmony.Index) error {
	return errors.New("index " + x.Name + " has no code")
}
