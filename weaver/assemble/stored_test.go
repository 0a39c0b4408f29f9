package assemble

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
)

// TestVersionOfPTX reads versions, and holds that of a driver against that of
// stored code.
func TestVersionOfPTX(t *testing.T) {
	for text, want := range map[string]int{
		".version 7.8\n.target sm_80\n": 78, "//\n// Generated\n//\n\n.version 8.0\n": 80, "": 0,
		".target sm_80": 0, ".version x": 0,
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
		!strings.Contains(err.Error(),
			"is PTX 7.8, and the GPU's driver reads PTX up to 7.4; install a newer driver") {
		t.Errorf("got %v", err)
	}
	to.PTX = 80
	if code, err := s.Find(to, graph, codecache.Knowledge{}); code == nil || err != nil {
		t.Errorf("got %v", err)
	}
}

// TestCodes finds the newest code that a GPU runs, if it may run.
func TestCodes(t *testing.T) {
	var codes Codes
	for _, name := range []string{"gpu:sm_80", "gpu:sm_90", "gpu:sm_100"} {
		to, err := ParseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		codes.List = append(codes.List, &Stored{Target: to})
	}
	list := codes.List
	for sm, want := range map[int]*Stored{75: nil, 80: list[0], 89: list[0], 90: list[1],
		120: list[2]} {
		if got := codes.For(sm); got != want {
			t.Errorf("sm_%d runs %+v", sm, got)
		}
	}
	codes.Distrust = true
	if got := codes.For(90); got != nil || codes.Any(90) == nil {
		t.Errorf("code that must not run is %+v", got)
	}
}
