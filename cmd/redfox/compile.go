package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

func compileCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "compile",
		Usage:     "compile a program to a file, or print a stage of it",
		ArgsUsage: "PROGRAM...",
		Description: "With -o FILE.rfx it writes the compiled program: the plan, which every engine runs, and code " +
			"of its kernels for each --target. redfox run takes that file as a program, and redfox inspect shows " +
			"what it holds.\n\n" +
			"Else it prints a stage, which --emit or the extension of -o names (.ll is llvm, .s is asm): ast, the syntax tree; core, the checked program with types and strata; plan, " +
			"the optimised query plan; harmony, the kernel graph, fused for the target; shape, what is decided of " +
			"each kernel before its code; llvm, LLVM IR before it is optimised; ptx, for a GPU target; asm, for this " +
			"machine's processor. The last two need libLLVM. Plans and kernel graphs are taken as programs, too, from " +
			"files whose names end in .plan and .harmony.\n\n" +
			"--lines gives code the places of rules, as .loc directives of PTX: profilers then name the rule of an " +
			"instruction. The instructions stay the same.\n\n" +
			"With --facts, plan and kernels are made for those facts: for the tables that their files are and for " +
			"how many tuples there are; the text of such a plan is to be read, and does not run. Without, they are " +
			"made for all.\n\n" +
			examplesMark +
			"redfox compile reach.logic -o reach.rfx\n" +
			"redfox compile reach.logic -o reach.rfx --target gpu:sm_90\n" +
			"redfox compile --emit core reach.logic\n" +
			"redfox compile reach.logic -o reach.plan\n" +
			"redfox compile --emit ptx --target gpu:sm_90 --lines reach.logic",
		Flags: flags(append([]string{"clauses", "emit", "target", "lines", "no-fuse", "keep-apart", "output",
			"disable", "json"}, factNames...)...),
		Action: func(c *cli.Context) error {
			if filepath.Ext(c.String("output")) == driver.CompiledExtension {
				return writeCompiled(c, con)
			}
			stage, err := stageOf(c)
			if err != nil {
				return err
			}
			return emitStage(c, con, stage)
		},
	}
}

// stageFiles has the extensions of files that hold a stage.
var stageFiles = map[string]driver.Stage{
	".ast": driver.StageAST, ".normal": driver.StageNormal, ".core": driver.StageCore,
	planExtension: driver.StagePlan, harmonyExtension: driver.StageHarmony,
	".shape": driver.StageShape, ".ll": driver.StageLLVM, ".ptx": driver.StagePTX,
	".s": driver.StageASM,
}

// stageOf returns the stage that --emit names or that the extension of -o
// stands for. A file never holds another stage than its name says.
func stageOf(c *cli.Context) (driver.Stage, error) {
	var stages []string
	for _, s := range driver.Stages() {
		stages = append(stages, string(s))
	}
	stage, err := choice("emit", c.String("emit"), stages...)
	if err != nil {
		return "", err
	}
	file := c.String("output")
	ext := filepath.Ext(file)
	named, ok := stageFiles[ext]
	switch {
	case ok && c.IsSet("emit") && string(named) != stage:
		return "", usage("leave out --emit, or name the file otherwise",
			"%s would hold the stage %s, not %s", shellQuote(file), named, stage)
	case ok:
		return named, nil
	case ext == "", ext == ".txt", file == "-", c.IsSet("emit") && !slices.Contains(binaryFiles, ext):
		return driver.Stage(stage), nil
	}
	help := "-o FILE.rfx writes the compiled program; FILE.plan, .harmony, .ll, .ptx or .s a stage"
	if !slices.Contains(binaryFiles, ext) {
		help += ", and --emit STAGE prints one to a file of any name"
	}
	return "", usage(help, "-o %s: redfox does not write %s files", shellQuote(file), ext)
}

// binaryFiles are extensions of files that no stage, which is a text, belongs
// in.
var binaryFiles = []string{".so", ".o", ".a", ".dylib", ".dll", ".exe", ".bc", ".cubin", ".fatbin"}

// emitStage prints a stage of a program.
func emitStage(c *cli.Context, con *console, stage driver.Stage) error {
	targets, err := targetsOf(c)
	if err != nil {
		return err
	}
	if len(targets) > 1 {
		return &usageError{message: fmt.Sprintf("a stage is of one target, and these are %s",
			strings.Join(targets, ", ")),
			help: "name one, or write a file with -o FILE" + driver.CompiledExtension}
	}
	opts := driver.EmitOptions{Lines: c.Bool("lines")}
	if len(targets) == 1 {
		opts.Target = targets[0]
	}
	if c.NArg() == 1 && filepath.Ext(c.Args().First()) == harmonyExtension {
		sources, err := readProgram(c)
		if err != nil {
			return err
		}
		graph, err := driver.ParseHarmony(sources[0])
		if err != nil {
			return err
		}
		return con.output(c.Context, c.String("output"), func(w writer) error {
			return graph.Emit(w, stage, opts)
		})
	}
	prog, facts, err := programForFacts(c, con)
	if err != nil {
		return err
	}
	opts.Facts = facts
	if stage == driver.StagePTX || stage == driver.StageASM {
		con.noteCodeFolder()
	}
	return con.output(c.Context, c.String("output"), func(w writer) error {
		return prog.Emit(w, stage, opts)
	})
}

// programForFacts compiles the program that the arguments name, and loads the
// facts that the flags name, if they do.
func programForFacts(c *cli.Context, con *console) (*driver.Program, *driver.Database, error) {
	facts, err := newFactFlags(c)
	if err != nil {
		return nil, nil, err
	}
	prog, err := compileProgram(c.Context, c, con, facts.external)
	if err != nil || !facts.given {
		return prog, nil, err
	}
	db, err := prog.Load(c.Context, facts.facts, facts.load)
	if err == nil {
		err = facts.check(db.Report())
	}
	return prog, db, err
}

// writeCompiled writes the file of a compiled program.
func writeCompiled(c *cli.Context, con *console) error {
	if c.IsSet("emit") {
		return &usageError{message: fmt.Sprintf("%s would hold the compiled program, not the stage %s", c.String("output"), c.String("emit")),
			help: "leave out --emit, or name the file otherwise"}
	}
	targets, err := targetsOf(c)
	if err != nil {
		return err
	}
	if filepath.Ext(c.Args().First()) == harmonyExtension {
		return &usageError{message: fmt.Sprintf("%s is a kernel graph, and a compiled program needs a plan", c.Args().First()),
			help: "compile the LogiQL program or its plan, or print a stage with --emit"}
	}
	prog, facts, err := programForFacts(c, con)
	if err != nil {
		return err
	}
	name := filepath.Base(c.Args().First())
	opts := driver.CompiledOptions{Name: strings.TrimSuffix(name, filepath.Ext(name)),
		Targets: targets, Facts: facts, Lines: c.Bool("lines")}
	con.noteCodeFolder()
	var left []driver.LeftOut
	err = con.output(c.Context, c.String("output"), func(w writer) error {
		left, err = prog.WriteCompiled(w, opts)
		return err
	})
	for _, l := range left {
		fmt.Fprintf(con.err, "redfox: note: %s has no code for %s: %v\n", c.String("output"),
			l.Target, l.Reason)
	}
	return err
}

// targetsOf returns the values of --target, each once, nil if there are none.
func targetsOf(c *cli.Context) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, name := range splitList(c.StringSlice("target")) {
		if err := driver.CheckTarget(name); err != nil {
			return nil, err
		}
		if !seen[name] {
			out = append(out, name)
		}
		seen[name] = true
	}
	return out, nil
}
