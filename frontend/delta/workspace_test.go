package delta_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestWorkspace compiles the transactions of each file of testdata, one after
// the other, as if all of them succeeded.
//
//	program   opens a workspace
//	add       installs a file
//	exec      executes a file
//	read      reads what the program derives
//
// The output is the core program of the transaction, and which predicates it
// changes, grows, keeps and affects.
func TestWorkspace(t *testing.T) {
	kinds := map[string]frontend.Kind{"program": frontend.Whole, "add": frontend.Addition,
		"exec": frontend.Execution, "read": frontend.Reading}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var w frontend.Workspace
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "program" {
				w = frontend.Workspace{}
			}
			files := []*source.File{source.NewFile(d.Cmd+".logic", d.Input+"\n")}
			step, found := frontend.CompileStep(&w, files, kinds[d.Cmd], frontend.Options{})
			var b strings.Builder
			if err := diag.Render(&b, found, diag.RenderOptions{}); err != nil {
				t.Fatal(err)
			}
			if step.Program == nil {
				return b.String()
			}
			if err := core.Verify(step.Program); err != nil {
				t.Fatalf("core: %v\n%s", err, step.Program)
			}
			b.WriteString(step.Program.String())
			for _, list := range []struct {
				what  string
				names []string
			}{{"changed", step.Changed}, {"grown", step.Grown}, {"kept", step.Kept}, {"stale", step.Stale}} {
				if len(list.names) > 0 {
					fmt.Fprintf(&b, "%s: %s\n", list.what, strings.Join(list.names, ", "))
				}
			}
			if d.Cmd != "read" {
				step.Commit(&w, slices.Concat(step.Changed, step.Kept))
			}
			return b.String()
		})
	})
}
