package assemble

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
)

// TestVersionOfPTX reads versions, and holds that of a driver against that of stored
// code.
func TestVersionOfPTX(t *testing.T) {
	for text, want := range map[string]int{
		".version 7.8\n.target sm_80\n": 78, "//\n// Generated\n//\n\n.version 8.0\n": 80, "": 0, ".target sm_80": 0, ".version x": 0,
	} {
		if got := versionOfPTX(text); got != want {
			t.Errorf("%q is of version %d, not %d", text, got, want)
		}
	}
	graph := &harmony.Program{}
	to, err := ParseTarget("gpu:sm_80")
	if err != nil {
		t.Fatal(err)
	}
	var s Shelf
	s.Put(&Stored{Target: to, Graph: graph.String(), Code: Code{Text: ".version 7.8\n"}})
	to.PTX = 74
	if _, err := s.Find(to, graph, codecache.Knowledge{}); err == nil ||
		!strings.Contains(err.Error(), "is PTX 7.8, and the GPU's driver reads PTX up to 7.4; install a newer driver") {
		t.Errorf("got %v", err)
	}
	to.PTX = 80
	if code, err := s.Find(to, graph, codecache.Knowledge{}); code == nil || err != nil {
		t.Errorf("got %v", err)
	}
}

// TestBest finds the newest code that a GPU runs.
func TestBest(t *testing.T) {
	var codes []*Stored
	for _, name := range []string{"gpu:sm_80", "gpu:sm_90", "gpu:sm_100"} {
		to, err := ParseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, &Stored{Target: to})
	}
	for sm, want := range map[int]*Stored{75: nil, 80: codes[0], 89: codes[0], 90: codes[1], 120: codes[2]} {
		if got := Best(codes, sm); got != want {
			t.Errorf("sm_%d runs %+v", sm, got)
		}
	}
}
