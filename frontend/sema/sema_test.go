package sema_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestSema runs the files of testdata, one for each feature. Directives:
//
//	core [external=(p, q)]
//
// prints the diagnostics of the program, and the core program if it is
// accepted, which has passed core.Verify.
//
//	rules [external=(p, q)]
//
// is core without the predicates' signatures.
//
//	check [external=(p, q)]
//
// prints the diagnostics only, or "ok".
//
//	normal
//
// prints the normal form, of a program that may have errors.
func TestSema(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			opts := sema.Options{External: map[string]bool{}}
			for _, arg := range d.CmdArgs {
				if arg.Key != "external" {
					d.Fatalf(t, "unknown argument %s", arg.Key)
				}
				for _, name := range arg.Vals {
					opts.External[name] = true
				}
			}
			var list diag.List
			file := source.NewFile("program.logic", d.Input+"\n")
			tree := parse.File(file, &list)
			if d.Cmd == "normal" {
				return normal.Text(sema.NormalForm([]*ast.File{tree}))
			}
			program := sema.Check([]*ast.File{tree}, opts, &list)
			var out strings.Builder
			if err := diag.Render(&out, list.All(), diag.RenderOptions{}); err != nil {
				d.Fatalf(t, "%v", err)
			}
			if program != nil {
				if err := core.Verify(program); err != nil {
					d.Fatalf(t, "core: %v\n%s", err, program)
				}
			}
			switch {
			case program == nil:
			case d.Cmd == "core":
				out.WriteString(program.String())
			case d.Cmd == "rules":
				out.WriteString(rules(program))
			case d.Cmd == "check":
				if out.Len() == 0 {
					out.WriteString("ok\n")
				}
			default:
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			return out.String()
		})
	})
}

// rules prints the rules and checks of a program.
func rules(p *core.Program) string {
	var out strings.Builder
	for _, s := range p.Strata {
		for _, r := range s.Rules {
			out.WriteString(r.String() + "\n")
		}
	}
	for _, c := range p.Checks {
		out.WriteString(c.String() + "\n")
	}
	return out.String()
}
