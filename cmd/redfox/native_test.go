package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
)

// TestNative goes through what needs libLLVM, as a user does.
func TestNative(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../../testdata/quickstart/reach.logic")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "reach.logic", string(text))
	facts, err := filepath.Abs("../../testdata/quickstart/facts")
	if err != nil {
		t.Fatal(err)
	}
	ran := func(args ...string) string {
		t.Helper()
		cmd := withLLVM(t, redfoxProcess(t, dir, args...))
		cmd.Env = append(cmd.Env, "REDFOX_CACHE="+filepath.Join(dir, "cache"))
		o := finish(t, cmd)
		if o.code != 0 || o.stderr != "" {
			t.Fatalf("redfox %s: exit code %d, %s", strings.Join(args, " "), o.code, o.stderr)
		}
		return o.stdout
	}
	ran("compile", "reach.logic", "-o", "reach.rfx")
	if info := ran("inspect", "reach.rfx"); !strings.Contains(info, "gpu:sm_80, by LLVM ") ||
		!strings.Contains(info, "cpu, LLVM IR, ") {
		t.Errorf("inspect shows\n%s", info)
	}
	if only := ran("inspect", "reach.rfx", "--target", "cpu"); strings.Contains(only,
		"gpu:sm_80, by") || !strings.Contains(only, "cpu, LLVM IR, ") {
		t.Errorf("inspect --target cpu shows\n%s", only)
	}
	if ptx := ran("inspect", "reach.rfx", "--ptx"); ptx != ran("compile", "reach.logic", "--emit",
		"ptx") || !strings.Contains(ptx, ".target sm_80") {
		t.Error("inspect --ptx and compile --emit ptx differ, or are not for sm_80")
	}
	if ir := ran("compile", "reach.logic", "--emit", "llvm"); ir != ran("inspect", "reach.rfx",
		"--llvm") || !strings.Contains(ir, "define i64 @k0(") {
		t.Error("inspect --llvm and compile --emit llvm differ, or lack a function")
	}
	if asm := ran("compile", "reach.rfx", "--emit", "asm"); !strings.Contains(asm, "k0:") {
		t.Error("compile --emit asm lacks a function")
	}
	want := ran("run", "reach.logic", "--facts", facts, "--engine", "go")
	for _, args := range [][]string{
		{"reach.logic"}, {"reach.rfx"}, {"reach.logic", "--no-fuse"},
		{"reach.rfx", "--threads", "1"},
	} {
		if got := ran(append([]string{"run", "--engine", "cpu", "--facts", facts},
			args...)...); got != want {
			t.Errorf("run %s on the cpu engine gives\n%s\nwant\n%s", strings.Join(args, " "), got,
				want)
		}
	}
	if entries, err := filepath.Glob(filepath.Join(dir, "cache", "*")); err != nil ||
		len(entries) < 3 {
		t.Errorf("the cache has %d entries: %v", len(entries), err)
	}
}

// TestOpenCodeFolder uses no code cache into which others can write, and says
// so.
func TestOpenCodeFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "n.logic", "n(1).\n_(x) <- n(x).\n")
	cache := filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{
		0o700: "",
		0o777: "redfox: note: the code cache " + cache +
			" is not used: others may write to it, its mode is drwxrwxrwx; " +
			"delete what is in it, and run chmod go-w " + cache + "\n",
	} {
		if err := os.Chmod(cache, mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"run", "n.logic", "--engine", "cpu"},
			{"compile", "n.logic", "--emit", "asm"}} {
			cmd := withLLVM(t, redfoxProcess(t, dir, args...))
			cmd.Env = append(cmd.Env, "REDFOX_CACHE="+cache)
			if o := finish(t, cmd); o.code != 0 || o.stderr != want {
				t.Errorf("mode %v, %v: exit code %d, %q", mode, args, o.code, o.stderr)
			}
		}
		entries, err := os.ReadDir(cache)
		if err != nil || (len(entries) > 0) != (want == "") {
			t.Errorf("mode %v: %d entries, %v", mode, len(entries), err)
		}
		for _, e := range entries {
			if err := os.Remove(filepath.Join(cache, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStats asks for what each kernel did, and for a profile, whose spans a
// viewer can read. Neither changes what is printed.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "reach.logic",
		"edge(x, y) -> int(x), int(y).\nreach(x, y) <- edge(x, y).\nreach(x, z) <- reach(x, y), edge(y, z).\n_(y) <- reach(1, y).\n")
	write(t, dir, "edge.tsv", "1\t2\n2\t3\n3\t1\n")
	for _, engine := range []string{"go", "cpu"} {
		cmd := redfoxProcess(t, dir, "run", "reach.logic", "--facts", ".", "--engine", engine,
			"--format", "tsv", "--stats", "--profile", engine+".json")
		if engine == "cpu" {
			cmd = withLLVM(t, cmd)
		}
		o := finish(t, cmd)
		if o.code != 0 || o.stdout != "1\n2\n3\n" {
			t.Fatalf("%s: %v", engine, o)
		}
		for _, want := range []string{"stratum  b1 for reach: kernels ",
			"kernel   k1 of reach.logic:3: ", "rows in, ", " code "} {
			if strings.Contains(o.stderr, want) != (engine == "cpu") {
				t.Errorf("%s: whether there is %q:\n%s", engine, want, o.stderr)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, engine+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var profile struct {
			Events []struct {
				Name string `json:"name"`
			} `json:"traceEvents"`
		}
		if err := json.Unmarshal(text, &profile); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, e := range profile.Events {
			names[e.Name] = true
		}
		for _, want := range []string{"compile the program", "load facts", "plan",
			"run on " + engine, "merge reach", "write results"} {
			if !names[want] {
				t.Errorf("%s: the profile lacks %q: %v", engine, want, names)
			}
		}
	}
	if files := list(t, dir); files != "cpu.json\nedge.tsv\ngo.json\nreach.logic\n" {
		t.Errorf("there are files:\n%s", files)
	}
}

// TestLines asks for the places of rules in PTX, and for none.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "two.logic", "a(x) -> int(x).\nb(x) <- a(x), x > 1.\n_(x) <- b(x),\n  x < 9.\n")
	for _, flag := range []string{"--lines", "--no-fuse"} {
		o := finish(t,
			withLLVM(t,
				redfoxProcess(t, dir, "compile", "--emit", "ptx", "--target", "gpu:sm_80", flag,
					"two.logic")))
		if o.code != 0 {
			t.Fatalf("%s: %v", flag, o)
		}
		for _, want := range []string{"\t.file\t1 \"two.logic\"\n", "\t.loc\t1 3 "} {
			if got := strings.Contains(o.stdout, want); got != (flag == "--lines") {
				t.Errorf("%s: that %q is in the code is %t\n%s", flag, want, got, o.stdout)
			}
		}
	}
}

// TestCachedCodeNeedsNoLLVM has the dynamic linker list what it loads. A
// process whose code is cached does not open libLLVM; one with other facts,
// whose code is different, does. Without a library, code runs on no engine that
// needs one, cached or not.
func TestCachedCodeNeedsNoLLVM(t *testing.T) {
	if goruntime.GOOS != "linux" || goruntime.GOARCH != "amd64" {
		t.Skip("LLVM's JIT links cached code here")
	}
	dir := t.TempDir()
	write(t, dir, "reach.logic", "edge(x, y) -> int(x), int(y).\nreach(x, y) <- edge(x, y).\n"+
		"reach(x, z) <- reach(x, y), edge(y, z).\n"+
		"length[x] = n -> int(x), int(n).\nlength[x] = n <- agg<<n = count()>> reach(x, _).\n"+
		"_(x, n, r) <- length[x] = n, r = float:sqrt[float:pow[int:float:convert[n], 2.5f]].\n")
	write(t, dir, "edge.tsv", "1\t2\n2\t3\n3\t1\n")
	run := func(engine string, more ...string) outcome {
		cmd := withLLVM(t, redfoxProcess(t, dir, "run", "reach.logic", "--facts", ".", "--engine",
			engine, "--format", "tsv"))
		cmd.Env = append(append(cmd.Env, "REDFOX_CACHE="+filepath.Join(dir, "cache"),
			"LD_DEBUG=files"), more...)
		return finish(t, cmd)
	}
	for i, c := range []struct {
		engine, edges string
		opens         bool
	}{
		{"go", "1\t2\n2\t3\n3\t1\n", false},
		{"cpu", "1\t2\n2\t3\n3\t1\n", true},
		{"cpu", "1\t2\n2\t3\n3\t1\n", false},
		{"cpu", "1\t2\n2\t3\n3\t70000\n", true},
		{"cpu", "1\t2\n2\t3\n3\t70000\n", false},
	} {
		write(t, dir, "edge.tsv", c.edges)
		o := run(c.engine)
		if lines := strings.Count(o.stdout, "\n"); o.code != 0 || lines != 3 {
			t.Fatalf("run %d: exit code %d, %d lines, %s", i, o.code, lines, o.stderr)
		}
		if got := strings.Contains(o.stderr, "libLLVM"); got != c.opens {
			t.Errorf("run %d on %s: opens libLLVM: %v", i, c.engine, got)
		}
	}
	if o := run("cpu", "REDFOX_LLVM=libLLVM-none.so"); o.code != exitEnvironment ||
		!strings.Contains(o.stderr, "libLLVM 15 to 19 is not there") {
		t.Errorf("without a library: exit code %d, %s", o.code, o.stderr)
	}
}
