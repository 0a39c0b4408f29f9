package machine

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// checkCode returns an error if a program with these codes has none for a GPU
// and none can be made.
func (m *Machine) checkCode(codes *assemble.Codes, card driver.Device) error {
	_, err := m.Tools.LLVM()
	if err == nil || codes.For(SM(card)) != nil {
		return nil
	}
	none := unavailable(GPU, err)
	if codes.Any(SM(card)) != nil {
		return &failure.Environment{
			Message: "the compiled program's code is not trusted, " +
				"and it cannot be compiled here: " + none.Detail,
			Help: "give --trust-code if you trust whoever made the file, " +
				"as the code can do all that you can; or " + none.Help + ", or use --engine go",
			Err: err,
		}
	}
	target := targetName(card)
	message := "code for a GPU must be compiled, and " + none.Detail
	if have := codes.Targets(); len(have) > 0 {
		message = fmt.Sprintf("the compiled program has code for %s, and %s needs it for %s "+
			"or an older one; it cannot be compiled here: %s",
			strings.Join(have, ", "), CardText(card), target, none.Detail)
	}
	help := fmt.Sprintf("%s, or compile the program where there is one, "+
		"with redfox compile --target %s -o FILE%s", none.Help, target, rfx.Extension)
	return &failure.Environment{Message: message, Help: help, Err: err}
}
