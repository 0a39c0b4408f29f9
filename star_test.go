package redfox

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/starprog"
	emulator "github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

var (
	starSeed = flag.Uint64("star.seed", 1, "first seed of the star programs")
	starGo   = flag.Int("star.go", 1000, "number of star programs for the go engine")
	starCPU  = flag.Int("star.cpu", 50, "number of star programs for the cpu engine")
	starGPU  = flag.Int("star.gpu", 20, "number of star programs for the emulated GPU")
	starKeep = flag.String("star.keep", "", "folder to write failing star programs to, shrunk")
)

// starPython has the module duckdb where .ci/run has been.
const starPython = "bench/data/venv/bin/python"

// starOptions says how a star program is compiled.
func starOptions(p *starprog.Program) Options {
	passes := optionalPasses()
	var disable []string
	for _, n := range p.Disable {
		if name := passes[n%uint64(len(passes))]; !slices.Contains(disable, name) {
			disable = append(disable, name)
		}
	}
	return Options{Disable: disable, NoFuse: p.NoFuse}
}

// starAnswer runs a star program over the files in a folder. A refusal is an
// answer.
func starAnswer(p *starprog.Program, dir, engine string) (*starprog.Answer, error) {
	ctx := context.Background()
	prog, err := Compile(ctx, []Source{Text("program.logic", p.Text())}, starOptions(p))
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, o := range p.Outputs {
		outputs = append(outputs, o.Name)
	}
	res, err := prog.Run(ctx, NewFacts().Dir(dir), RunOptions{Engine: engine, Threads: p.Threads, Outputs: outputs, Load: LoadOptions{Header: true}})
	var wrong *ProgramError
	if errors.As(err, &wrong) {
		switch wrong.Diagnostics[0].Code.ID {
		case diag.KeyConflict.ID:
			return &starprog.Answer{Refusal: starprog.Conflict}, nil
		case diag.ConstraintViolated.ID:
			return &starprog.Answer{Refusal: starprog.Violated}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	out := &starprog.Answer{}
	for _, o := range p.Outputs {
		var lines []string
		for t := range res.Tuples(o.Name) {
			lines = append(lines, starprog.Line(t))
		}
		out.Add(o, lines)
	}
	return out, nil
}

// starTest compares an engine with an oracle on star programs.
type starTest struct {
	oracle starprog.Oracle
	engine string
	dir    string
	// break, if set, puts a fault into an engine's answers.
	fault func(*starprog.Program, *starprog.Answer)
}

// disagreement says in what engine and oracle differ, "" if in nothing. The
// error is of a program that shows nothing.
func (s *starTest) disagreement(p *starprog.Program, files string) (why string, want *starprog.Answer, err error) {
	want, err = s.oracle.Answer(p)
	if err != nil {
		return "", nil, err
	}
	got, err := starAnswer(p, files, s.engine)
	if err != nil {
		return "the engine fails: " + err.Error(), want, nil
	}
	if s.fault != nil {
		s.fault(p, got)
	}
	return want.Difference(p, got), want, nil
}

// again is disagreement with files of its own.
func (s *starTest) again(p *starprog.Program) (string, error) {
	files, err := os.MkdirTemp(s.dir, "")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(files)
	if err := p.Data.Write(files, p.Stored); err != nil {
		return "", err
	}
	why, _, err := s.disagreement(p, files)
	return why, err
}

// shrink returns a small program that fails, and how.
func (s *starTest) shrink(p *starprog.Program, why string) (*starprog.Program, string) {
	kind := starKind(why)
	small := starprog.Shrink(p, func(q *starprog.Program) bool {
		why, err := s.again(q)
		return err == nil && why != "" && starKind(why) == kind
	})
	why, _ = s.again(small)
	return small, why
}

// starKind tells a failed run from a wrong answer; one does not become the other
// while a program shrinks.
func starKind(why string) string {
	text, _, _ := strings.Cut(why, ":")
	return strings.Fields(text + " ")[0]
}

// run compares the programs of seeds from the first one on.
func (s *starTest) run(t *testing.T, first uint64, count int) *starprog.Count {
	t.Helper()
	s.dir = t.TempDir()
	c := &starprog.Count{}
	for seed := first; c.Programs < count; seed++ {
		files := filepath.Join(s.dir, fmt.Sprint(seed))
		if err := os.Mkdir(files, 0o777); err != nil {
			t.Fatal(err)
		}
		list := starprog.New(seed)
		if err := list[0].Data.Write(files, list[0].AllStored); err != nil {
			t.Fatal(err)
		}
		for _, p := range list[:min(len(list), count-c.Programs)] {
			why, want, err := s.disagreement(p, files)
			c.Add(p, want)
			switch {
			case errors.Is(err, starprog.ErrUndecided):
			case err != nil:
				t.Errorf("seed %d, program %d: %v\n%s", seed, p.Index, err, p.Text())
			case why != "":
				s.report(t, p, why)
			}
		}
		if err := os.RemoveAll(files); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// summary prints what was made, and fails if a shape is missing among so many
// programs that it should not be.
func (s *starTest) summary(t *testing.T, c *starprog.Count) {
	t.Helper()
	t.Logf("%s, from seed %d: %s", s.engine, *starSeed, c.Table())
	if c.Programs >= 1000 {
		for _, absent := range c.Absent() {
			t.Error(absent)
		}
	}
	if c.Undecided > c.Programs/10 {
		t.Errorf("the oracle knows the answers of %d of %d programs", c.Programs-c.Undecided, c.Programs)
	}
}

func (s *starTest) report(t *testing.T, p *starprog.Program, why string) {
	t.Helper()
	small, why := s.shrink(p, why)
	o := starOptions(small)
	t.Errorf("seed %d, program %d, engine %s: %s\nwithout passes %v, without fusion %v, %d threads\n%s\nagain: go test . -run TestStar -star.seed %d",
		p.Seed, p.Index, s.engine, why, o.Disable, o.NoFuse, small.Threads, small.Show(), p.Seed)
}

// TestStarAgainstDuckDB compares the go engine with DuckDB on random programs
// over star and snowflake data.
func TestStarAgainstDuckDB(t *testing.T) {
	if _, err := os.Stat(starPython); err != nil {
		t.Skip("star programs are not compared with DuckDB: .ci/run installs it in bench/data/venv")
	}
	peer, err := starprog.StartPeer(context.Background(), starPython)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	s := &starTest{oracle: peer, engine: "go"}
	c := s.run(t, *starSeed, *starGo)
	s.summary(t, c)
}

// TestStarAgainstBruteForce is the same with internal/oracle.
func TestStarAgainstBruteForce(t *testing.T) {
	s := &starTest{oracle: starprog.BruteForce{Steps: 200_000}, engine: "go"}
	c := s.run(t, *starSeed, *starGo)
	s.summary(t, c)
}

// TestStarOnCPU runs star programs on the cpu engine.
func TestStarOnCPU(t *testing.T) {
	if _, err := openLLVM(); err != nil {
		t.Skip(err)
	}
	s := &starTest{oracle: starprog.BruteForce{Steps: 200_000}, engine: "cpu"}
	c := s.run(t, *starSeed, *starCPU)
	s.summary(t, c)
}

// TestStarOnGPU runs star programs on an emulated GPU.
func TestStarOnGPU(t *testing.T) {
	emulateGPU(t, emulator.Options{Seed: 5})
	s := &starTest{oracle: starprog.BruteForce{Steps: 200_000}, engine: "gpu"}
	c := s.run(t, *starSeed, *starGPU)
	s.summary(t, c)
}
