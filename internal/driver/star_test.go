package driver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/reference/starprog"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// defaultStarSeed begins the programs that each run without flags makes.
const defaultStarSeed = 1

var (
	starSeed = flag.Uint64("star.seed", defaultStarSeed, "first seed of the star programs")
	starGo   = flag.Int("star.go", 1000,
		"number of star programs for the go engine, compared with brute force")
	starDuck = flag.Int("star.duckdb", 200,
		"number of star programs for the go engine, compared with DuckDB")
	starCPU  = flag.Int("star.cpu", 50, "number of star programs for the cpu engine")
	starGPU  = flag.Int("star.gpu", 20, "number of star programs for the emulated GPU")
	starMost = flag.Int("star.most", 8,
		"most literals of star programs that are compiled to native code or PTX; 0 for any number")
	starKeep = flag.String("star.keep", "", "folder to write failing star programs to, shrunk")
)

// starPython has the module duckdb where .ci/run has been.
const starPython = "../../bench/data/venv/bin/python"

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
// answer. Some or each of the outputs by themselves have to be as they are
// together. For a third of the programs, the go engine without a session has to
// find the same in a database of these facts, and by parts in little memory.
func starAnswer(p *starprog.Program, dir, engine string,
	session *Session) (*starprog.Answer, error) {
	ctx := context.Background()
	prog, err := Compile(ctx, []Source{Text("program.logic", p.Text())}, starOptions(p))
	if err != nil {
		return nil, err
	}
	run := RunOptions{Engine: engine, Threads: p.Threads,
		Load: LoadOptions{Header: true, always: p.Index%2 == 1}}
	facts := NewFacts().Dir(dir)
	whole, err := starOutputs(ctx, prog, p, facts, run, session, p.Outputs)
	if err != nil {
		return nil, err
	}
	same := func(how string, part *starprog.Answer, err error, list []*starprog.Pred) error {
		how += " with the outputs " + strings.Join(starNames(list), " ")
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", how, err)
		case part.Refusal == whole.Refusal && whole.Refusal == starprog.Answered:
			for _, o := range list {
				if got, want := part.Rows[o.Name], whole.Rows[o.Name]; !slices.Equal(got, want) {
					return fmt.Errorf("%s, %s is %q, not %q", how, o.Name, got, want)
				}
			}
		case part.Refusal != starprog.Answered && !whole.Refusal.Excuses(part.Refusal),
			len(list) == len(p.Outputs) && part.Refusal != whole.Refusal &&
				!(whole.Refusal.Excuses(part.Refusal) && part.Refusal.Excuses(whole.Refusal)):
			return fmt.Errorf("%s: %q, not %q", how, part.Refusal, whole.Refusal)
		}
		return nil
	}
	for _, list := range starParts(p, engine) {
		part, err := starOutputs(ctx, prog, p, facts, run, session, list)
		if err := same("files", part, err, list); err != nil {
			return nil, err
		}
	}
	if engine != EngineGo || session != nil || (p.Seed+uint64(p.Index))%3 > 0 {
		return whole, nil
	}
	list := starParts(p, "any engine")
	list = append(list, p.Outputs)
	stored := filepath.Join(dir, fmt.Sprintf("%d-%d.rfdb", p.Seed, p.Index))
	defer os.Remove(stored)
	var wrong *ProgramError
	switch _, err := prog.Store(ctx, facts, stored, run.Load); {
	case errors.As(err, &wrong):
		return whole, nil // loading refuses facts of the program's own text
	case err != nil:
		return nil, err
	}
	part, err := starOutputs(ctx, prog, p, NewFacts().Dir(stored), run, nil, list[0])
	if err := same("a database", part, err, list[0]); err != nil {
		return nil, err
	}
	run.Spill = dir
	for _, run.Memory = range []int64{1 << 16, 1 << 18, 1 << 20, 1 << 22} {
		part, err := starOutputs(ctx, prog, p, facts, run, nil, p.Outputs)
		var full *EnvironmentError
		if errors.As(err, &full) {
			continue // it has no room for one part
		}
		if err := same(fmt.Sprintf("%d bytes", run.Memory), part, err, p.Outputs); err != nil {
			return nil, err
		}
		break
	}
	return whole, nil
}

func starNames(list []*starprog.Pred) (names []string) {
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

// starParts draws outputs that are computed without the others: each alone and
// some, or one of these on an engine that compiles code for them.
func starParts(p *starprog.Program, engine string) (parts [][]*starprog.Pred) {
	if len(p.Outputs) < 2 {
		return nil
	}
	for i := range p.Outputs {
		parts = append(parts, p.Outputs[i:i+1])
	}
	rng := rand.New(rand.NewPCG(p.Seed, uint64(p.Index)))
	if some := slices.DeleteFunc(slices.Clone(p.Outputs), func(*starprog.Pred) bool {
		return rng.IntN(2) == 0
	}); len(some) > 1 && len(some) < len(p.Outputs) {
		parts = append(parts, some)
	}
	if engine != EngineGo {
		one := rng.IntN(len(parts))
		parts = parts[one : one+1]
	}
	return parts
}

// starOutputs runs a star program for some of its outputs.
func starOutputs(ctx context.Context, prog *Program, p *starprog.Program, facts *Facts,
	run RunOptions, session *Session, outputs []*starprog.Pred) (*starprog.Answer, error) {
	run.Outputs = starNames(outputs)
	res, err := starRun(ctx, prog, facts, run, session)
	var wrong *ProgramError
	if errors.As(err, &wrong) {
		switch wrong.Diagnostics[0].Code.ID {
		case diag.KeyConflict.ID:
			return &starprog.Answer{Refusal: starprog.Conflict}, nil
		case diag.ConstraintViolated.ID:
			return &starprog.Answer{Refusal: starprog.Violated}, nil
		case diag.TotalOverflow.ID:
			return &starprog.Answer{Refusal: starprog.Overflow}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	out := &starprog.Answer{}
	for _, o := range outputs {
		var lines []string
		for t := range res.Tuples(o.Name) {
			lines = append(lines, starprog.Line(t))
		}
		if err := res.Err(); err != nil {
			return nil, err
		}
		out.Add(o, lines)
	}
	return out, nil
}

// starRun runs a program, in a session if there is one. Otherwise it runs it
// twice, so that the second run knows the keys of files and loads only what it
// needs. Strings are put off even if they are short, and columns of short files
// stay encoded.
func starRun(ctx context.Context, prog *Program, facts *Facts, run RunOptions,
	session *Session) (*Result, error) {
	if session == nil {
		run.Load.proofs, run.Load.allLate = keptProofs(map[string][]byte{}), true
		run.Load.leastEncoded = 1
		if _, err := prog.Run(ctx, facts, run); err != nil {
			return nil, err
		}
		return prog.Run(ctx, facts, run)
	}
	db, err := session.Load(ctx, prog, facts, run.Load)
	if err != nil {
		return nil, err
	}
	run.Load = LoadOptions{}
	return session.Run(ctx, prog, db, run)
}

// starTest compares an engine with an oracle on star programs. Each goroutine
// has an oracle of its own.
type starTest struct {
	oracles []starprog.Oracle
	name    string // of the oracle
	engine  string
	first   uint64 // seed
	most    int    // literals of a program; 0 for any number
	dir     string
	// quick runs most programs if set: code is made with little effort.
	quick *Session
	mu    sync.Mutex
	count starprog.Count
	// fault, if set, falsifies an engine's answers.
	fault func(*starprog.Program, *starprog.Answer)
}

// disagreement says in what engine and oracle differ, "" if in nothing. The
// error is of a program that shows nothing.
func (s *starTest) disagreement(oracle starprog.Oracle, p *starprog.Program,
	files string) (why string, want *starprog.Answer, err error) {
	want, err = oracle.Answer(p)
	if err != nil {
		return "", nil, err
	}
	session := s.quick
	if p.Index%5 == 0 {
		session = nil
	}
	got, panicked, err := s.answer(p, files, session)
	if panicked {
		return "panic: " + err.Error(), want, nil
	}
	if err != nil {
		return "the engine fails: " + err.Error(), want, nil
	}
	if s.fault != nil {
		s.fault(p, got)
	}
	if got.Refusal == starprog.Overflow && s.name == duckDB {
		// DuckDB's totals have more digits, or it does not compute them.
		if want, err = bruteForces(1)[0].Answer(p); err != nil {
			return "", nil, err
		}
	}
	return want.Difference(p, got), want, nil
}

// answer is starAnswer. A panic is an error, so that its program is shown.
func (s *starTest) answer(p *starprog.Program, files string,
	session *Session) (got *starprog.Answer, panicked bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			panicked, err = true, fmt.Errorf("%v\n%s", r, debug.Stack())
		}
	}()
	got, err = starAnswer(p, files, s.engine, session)
	return got, false, err
}

// again is disagreement with files of its own.
func (s *starTest) again(oracle starprog.Oracle, p *starprog.Program) (string, error) {
	files, err := os.MkdirTemp(s.dir, "")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(files)
	if err := p.Data.Write(files, p.Stored); err != nil {
		return "", err
	}
	why, _, err := s.disagreement(oracle, p, files)
	return why, err
}

// shrink returns a small program that fails, and how.
func (s *starTest) shrink(oracle starprog.Oracle, p *starprog.Program,
	why string) (*starprog.Program, string) {
	kind := starKind(why)
	small := starprog.Shrink(p, func(q *starprog.Program) bool {
		why, err := s.again(oracle, q)
		return err == nil && why != "" && starKind(why) == kind
	})
	why, _ = s.again(oracle, small)
	return small, why
}

// starCode finds the code of a diagnostic.
var starCode = regexp.MustCompile(`\[RF\d+\]`)

// starKind tells a failed run from a wrong answer, and one error from another;
// one does not become the other while a program shrinks.
func starKind(why string) string {
	text, _, _ := strings.Cut(why, ":")
	return strings.Fields(text + " ")[0] + starCode.FindString(why)
}

// run compares programs of the seeds from the first one on, on as many
// goroutines as there are oracles.
func (s *starTest) run(t *testing.T, count int) {
	t.Helper()
	s.dir = t.TempDir()
	work := make(chan []*starprog.Program)
	var wg sync.WaitGroup
	for _, oracle := range s.oracles {
		wg.Go(func() {
			for list := range work {
				s.data(t, oracle, list)
			}
		})
	}
	for seed := s.first; count > 0; seed++ {
		list := starprog.New(seed)
		if s.most > 0 {
			list = slices.DeleteFunc(list, func(p *starprog.Program) bool {
				return p.Literals() > s.most
			})
		}
		list = list[:min(len(list), count)]
		count -= len(list)
		if len(list) > 0 {
			work <- list
		}
	}
	close(work)
	wg.Wait()
	s.summary(t)
}

// data compares programs over the same data.
func (s *starTest) data(t *testing.T, oracle starprog.Oracle, list []*starprog.Program) {
	seed := list[0].Seed
	files := filepath.Join(s.dir, fmt.Sprint(seed))
	err := os.Mkdir(files, 0o777)
	if err == nil {
		err = list[0].Data.Write(files, list[0].AllStored)
	}
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range list {
		why, want, err := s.disagreement(oracle, p, files)
		s.mu.Lock()
		s.count.Add(p, want)
		s.mu.Unlock()
		switch {
		case errors.Is(err, starprog.ErrUndecided):
		case err != nil:
			t.Errorf("seed %d, program %d: %v\n%s", seed, p.Index, err, p.Text())
		case why != "":
			s.report(t, oracle, p, why)
		}
	}
	if err := os.RemoveAll(files); err != nil {
		t.Error(err)
	}
}

// summary prints what was made. Programs from the default seed are the same on
// each run: a shape that many of them lack is an error. Other seeds may miss a
// rare shape by chance.
func (s *starTest) summary(t *testing.T) {
	t.Helper()
	c := &s.count
	t.Logf("the %s engine and %s, from seed %d: %s", s.engine, s.name, s.first, c.Table())
	if c.Programs >= 1000 && s.first == defaultStarSeed {
		for _, absent := range c.Absent() {
			t.Error(absent)
		}
	}
	if c.Undecided > c.Programs/10 {
		t.Errorf("%s knows the answers of %d of %d programs", s.name, c.Programs-c.Undecided,
			c.Programs)
	}
}

// report shrinks a program that fails, shows it, and says how to run it again.
func (s *starTest) report(t *testing.T, oracle starprog.Oracle, p *starprog.Program, why string) {
	t.Helper()
	small, why := s.shrink(oracle, p, why)
	if s.peerErs(t, small) {
		return
	}
	o := starOptions(small)
	run := "redfox run program.logic --facts . --header --engine " + s.engine
	if len(o.Disable) > 0 {
		run += " --disable " + strings.Join(o.Disable, ",")
	}
	if o.NoFuse {
		run += " --no-fuse"
	}
	count := s.engine
	if t.Name() == "TestStarAgainstDuckDB" {
		count = "duckdb"
	}
	t.Errorf("seed %d, program %d, the %s engine and %s: %s\n%s\nrun it: %s --threads %d\n"+
		"again: go test . -run %s -star.seed %d -star.%s %d -star.most 0",
		p.Seed, p.Index, s.engine, s.name, why, small.Show(), run, small.Threads, t.Name(), p.Seed,
		count, starprog.PerData)
	if *starKeep == "" {
		return
	}
	dir := filepath.Join(*starKeep, fmt.Sprintf("star-%d-%d", p.Seed, p.Index))
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "program.logic"), []byte(small.Text()), 0o666)
	}
	if err == nil {
		err = small.Data.Write(dir, small.Stored)
	}
	if err != nil {
		t.Error(err)
	}
}

// peerErs reports whether brute force agrees with the engine and not with
// DuckDB. That is worth a line, but no failure of ours.
func (s *starTest) peerErs(t *testing.T, small *starprog.Program) bool {
	if s.name != duckDB || s.fault != nil {
		return false
	}
	why, err := s.again(bruteForces(1)[0], small)
	if err != nil || why != "" {
		return false
	}
	t.Logf("seed %d, program %d: DuckDB differs from the %s engine and from brute force:\n%s",
		small.Seed, small.Index, s.engine, small.Show())
	return true
}

// TestStarOverflow runs programs of which one takes averages of squares that
// have no room in decimal[18,6]: engine and oracle refuse it alike. DuckDB has
// no such bound, so its answer is not the one that counts.
func TestStarOverflow(t *testing.T) {
	for name, oracles := range map[string][]starprog.Oracle{
		bruteForce: bruteForces(1), duckDB: startPeers(t, 1),
	} {
		if oracles == nil {
			continue
		}
		s := &starTest{oracles: oracles, name: name, engine: "go", first: 63595302388467}
		s.run(t, starprog.PerData)
		if n := s.count.Made[string(starprog.Overflow)]; n != 1 {
			t.Errorf("%s: %d of the programs overflow, not one", name, n)
		}
	}
}

// startPeers starts DuckDB several times, or not at all where it is missing.
func startPeers(t *testing.T, count int) (out []starprog.Oracle) {
	t.Helper()
	if _, err := os.Stat(starPython); err != nil {
		return nil
	}
	for range count {
		peer, err := starprog.StartPeer(context.Background(), starPython)
		if err != nil {
			t.Log(err)
			return nil
		}
		t.Cleanup(func() { _ = peer.Close() }) // how it ends does not matter
		out = append(out, peer)
	}
	return out
}

// bruteForces is for many programs: those of some thousand rows are undecided.
func bruteForces(count int) (out []starprog.Oracle) {
	for range count {
		out = append(out, starprog.BruteForce{Steps: 200_000})
	}
	return out
}

const (
	duckDB     = "DuckDB"
	bruteForce = "brute force"
)

// TestStarAgainstDuckDB compares the go engine with DuckDB on random programs
// over star and snowflake data.
func TestStarAgainstDuckDB(t *testing.T) {
	short.Skip(t, "DuckDB runs nothing")
	peers := startPeers(t, goruntime.NumCPU())
	if peers == nil {
		t.Skip("star programs are not compared with DuckDB, which .ci/run installs in " +
			"bench/data/venv, but with brute force")
	}
	s := &starTest{oracles: peers, name: duckDB, engine: "go", first: *starSeed}
	s.run(t, *starDuck)
}

// TestStarAgainstBruteForce is the same with internal/reference/oracle.
func TestStarAgainstBruteForce(t *testing.T) {
	s := &starTest{oracles: bruteForces(goruntime.NumCPU()), name: bruteForce, engine: "go",
		first: *starSeed}
	s.run(t, int(short.Count(t, uint64(*starGo), "star programs")))
}

// starOnEngine compares another engine with the oracle that there is.
func starOnEngine(t *testing.T, engine string, count, goroutines int) {
	t.Helper()
	s := &starTest{oracles: startPeers(t, goroutines), name: duckDB, engine: engine,
		first: *starSeed, most: *starMost}
	if engine == "cpu" && !short.Every() {
		s.quick = QuickSession(t)
	}
	if s.oracles == nil {
		s.oracles, s.name = bruteForces(goroutines), bruteForce
	}
	s.run(t, int(short.Count(t, uint64(count), "star programs")))
}

// TestStarOnCPU runs star programs on the cpu engine.
func TestStarOnCPU(t *testing.T) {
	if _, err := process.Machine.Tools.LLVM(); err != nil {
		t.Skip(err)
	}
	starOnEngine(t, "cpu", *starCPU, goruntime.NumCPU())
}

// TestStarOnGPU runs star programs on an emulated GPU.
func TestStarOnGPU(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 5})
	starOnEngine(t, "gpu", *starGPU, 1)
}

// TestStarFailuresShrink falsifies the answers of programs that read a column
// twice, and wants a program with little else to be left of them.
func TestStarFailuresShrink(t *testing.T) {
	s := &starTest{name: bruteForce, engine: "go", dir: t.TempDir()}
	s.fault = func(p *starprog.Program, a *starprog.Answer) {
		if slices.Contains(p.Kinds(), "column-twice") && len(a.Rows["_"]) > 0 {
			a.Rows["_"] = a.Rows["_"][1:]
		}
	}
	oracle, found := bruteForces(1)[0], uint64(0)
	most := short.Count(t, 3, "failures")
	for seed := uint64(1); found < most; seed++ {
		for _, p := range starprog.New(seed) {
			why, err := s.again(oracle, p)
			if err != nil || why == "" {
				continue
			}
			found++
			small, why := s.shrink(oracle, p, why)
			literals := 0
			for _, r := range small.Rules {
				literals += len(r.Body)
			}
			rows := 0
			for _, t := range small.Data.Tables {
				rows += len(t.Rows)
			}
			if !strings.HasPrefix(why, "_ differs") || len(small.Rules) > 3 || literals > 6 ||
				rows > 3 {
				t.Errorf("seed %d, program %d: %s\n%s", seed, p.Index, why, small.Show())
			}
		}
	}
}
