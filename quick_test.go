package redfox

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/runtime/native"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// QuickSession opens a session whose cpu engine has LLVM spend little effort on code,
// which is made in an eighth of the time. It serves variants of programs that also run
// with the code that users have. nil stands for a machine without a cpu engine.
func QuickSession(t testing.TB) *Session {
	t.Helper()
	if _, _, err := ChooseEngine("cpu"); err != nil {
		return nil
	}
	lib, err := openLLVM()
	if err != nil {
		t.Fatal(err)
	}
	target, err := parseTarget(DefaultCPU)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenSession(SessionOptions{Engine: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	cache := kernelcache.Open()
	s.engines.made = map[engineKey]*keptEngine{}
	for _, how := range []fusing{{}, {off: true}} {
		key := keyOf(choice{EngineInfo: EngineInfo{Name: "cpu"}}, RunOptions{}, how)
		engine := native.New(native.Options{
			Library: lib, Cache: cache, Lower: lowering(target, how),
			Generator: cpuGenerator{target, hostcode.Options{Library: lib, Cache: cache, Quick: true}, cache},
		})
		s.engines.made[key] = &keptEngine{Engine: engine, key: key}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
