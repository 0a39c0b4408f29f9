package emit

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestPartitioned checks that every program of the project has code for a GPU
// once functions without GPU code are left to the host, and that some programs
// have such functions.
func TestPartitioned(t *testing.T) {
	short.Skip(t, "divided programs")
	refused := 0
	for i, file := range wholePrograms(t) {
		whole := loweredFile(t, file)
		var unsupported *UnsupportedError
		if _, err := Program(whole, Options{Target: target.GPU(90)}); errors.As(err, &unsupported) {
			refused++
		}
		p, err := partition.Partition(whole)
		if err == nil {
			p, _, err = fuse.Fuse(p, fuse.Options{Budget: target.GPU(90).Budget, Off: i%2 == 1})
		}
		if err == nil {
			_, err = Program(p, Options{Target: target.GPU(90)})
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if refused == 0 {
		t.Error("no program needs to be partitioned")
	}
	t.Logf("%d programs need to be partitioned", refused)
}
