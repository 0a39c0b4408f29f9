package imports_test

import (
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// FuzzScript compiles import scripts: each gives a valid program, or errors
// with places.
func FuzzScript(f *testing.F) {
	f.Add("option,delimiter,\"\\t\"\noption,hasColumnNames,false\n" +
		"fromFile,\"a.txt\",column:1,x,column:3,y\ntoPredicate,edge,x,y\n")
	f.Add("# a\n// b\n\noption,quotedValues,true\nfromFile,\"a,b\\\"c\",a,x:1,b,?y\ntoPredicate,p,x:1")
	f.Add("fromFile,a,a,x,a,x\nfromFile,a,column:-1,x\ntoPredicate,edge,z\ntoPredicates")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		program, found := frontend.Compile([]*source.File{
			source.NewFile("edge.logic", "edge(x, y) -> int(x), string(y).\n"),
			source.NewFile("load.import", text)}, frontend.Options{})
		if program == nil {
			for _, d := range found {
				if d.Severity == diag.Error && d.Span.IsValid() {
					return
				}
			}
			t.Fatal("refused without an error that has a place")
		}
		if err := core.Verify(program); err != nil {
			t.Fatalf("core: %v\n%s", err, program)
		}
	})
}
