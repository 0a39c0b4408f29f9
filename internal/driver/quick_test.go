package driver

import (
	"testing"

	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
)

// QuickSession opens a session whose cpu engine has LLVM spend little effort on
// code, which is made in an eighth of the time. It serves variants of programs
// that also run with the code that users have. nil stands for a machine without
// a cpu engine.
func QuickSession(t testing.TB) *Session {
	t.Helper()
	if _, _, err := ChooseEngine("cpu"); err != nil {
		return nil
	}
	tools := *process.Machine.Tools
	tools.Quick = true
	m := &machine.Machine{Tools: &tools, Driver: process.Machine.Driver}
	s := &Session{pool: pool.New(m), options: SessionOptions{Engine: "cpu"}}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
