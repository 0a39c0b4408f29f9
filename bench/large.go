package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/bitcodegen"
	"github.com/redfoxdb/redfox/internal/driver"
)

// benchLarge measures a program of 4,000 clauses on each engine: redfox check,
// and two processes of redfox run. The first one has an empty code cache; the
// second one has what the first has left. The answers of all runs must be
// equal.
func benchLarge(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	l := &largeProgram{bin: bin, dir: filepath.Join(filepath.Dir(bin), "large")}
	facts, err := l.write(c.seed)
	if err != nil {
		return err
	}
	check, err := l.command(ctx, "", "check")
	if err != nil {
		return err
	}
	rows := []table.Row{{"check", "", measure.FormatTime(check.wall), "",
		measure.FormatTime(check.processor), ""}}
	var base measured
	for _, engine := range append([]string{driver.EngineGo}, c.others()...) {
		for _, name := range []string{"first", "second"} {
			one, err := l.command(ctx, engine, "run", "--engine", engine, "--threads",
				fmt.Sprint(c.threads), "--out", l.answers(engine))
			if err != nil {
				return fmt.Errorf("the %s run on %s: %w", name, engine, err)
			}
			if err := l.compare(engine); err != nil {
				return err
			}
			if engine == driver.EngineGo {
				base = one
			}
			rows = append(rows, table.Row{engine, name, measure.FormatTime(one.wall),
				fmt.Sprintf("%.2f", one.wall/base.wall), measure.FormatTime(one.processor),
				fmt.Sprintf("%.2f", one.processor/base.processor)})
		}
	}
	report(fmt.Sprintf("4,000 clauses, 400 file predicates, %d facts, a process each, %d threads",
		facts, c.threads), table.Row{"engine", "run", "time", "beside go", "processor time",
		"beside go"}, rows)
	return nil
}

// others returns the engines that are measured beside go.
func (c config) others() []string {
	var out []string
	for _, name := range append(c.measured(), driver.EngineAuto) {
		if name != driver.EngineGo {
			out = append(out, name)
		}
	}
	return out
}

// largeProgram is a program in a folder, and the command that runs it.
type largeProgram struct {
	bin, dir string
	files    []string
}

// write writes the program and its facts, and counts the facts.
func (l *largeProgram) write(seed uint64) (facts int, err error) {
	data := bitcodegen.Facts(bitcodegen.Kinds, bitcodegen.Instructions, seed)
	for _, f := range data {
		facts += strings.Count(f.Text, "\n")
	}
	if err := os.MkdirAll(filepath.Join(l.dir, "facts"), 0o755); err != nil {
		return 0, err
	}
	program := bitcodegen.Program(bitcodegen.Kinds)
	for _, f := range program {
		l.files = append(l.files, filepath.Join(l.dir, f.Name))
	}
	for _, f := range append(program, data...) {
		if err := os.WriteFile(filepath.Join(l.dir, f.Name), []byte(f.Text), 0o644); err != nil {
			return 0, err
		}
	}
	return facts, nil
}

// measured is the time that a process took, in seconds.
type measured struct{ wall, processor float64 }

// command runs redfox on the program, with a code cache for each engine.
func (l *largeProgram) command(ctx context.Context, engine, name string,
	flags ...string) (m measured, err error) {
	cmd := exec.CommandContext(ctx, l.bin, append(append([]string{name}, l.files...), flags...)...)
	cmd.Env = append(os.Environ(), "REDFOX_CACHE="+filepath.Join(l.dir, "cache-"+engine))
	m.wall, err = repeat(1, func() error {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if state := cmd.ProcessState; state != nil {
		m.processor = (state.UserTime() + state.SystemTime()).Seconds()
	}
	return m, err
}

// answers is the folder of an engine's answers.
func (l *largeProgram) answers(engine string) string {
	return filepath.Join(l.dir, "answers-"+engine)
}

// compare returns an error if an engine's answers are not those of go.
func (l *largeProgram) compare(engine string) error {
	want := l.answers(driver.EngineGo)
	files := 0
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		expected, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(l.answers(engine), filepath.Base(path)))
		if err == nil && !bytes.Equal(expected, got) {
			err = fmt.Errorf("engine %s has another %s than go", engine, d.Name())
		}
		return err
	})
	if err == nil && files == 0 {
		err = errors.New("the go engine has no answers")
	}
	return err
}
