//go:build linux

package atomicfile

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// asWriter, when set, makes the test binary a process that writes the file of
// that name, stops as asWriterStops says, and waits to be killed.
const (
	asWriter      = "ATOMICFILE_TEST_WRITES"
	asWriterStops = "ATOMICFILE_TEST_STOPS"
)

func TestMain(m *testing.M) {
	path := os.Getenv(asWriter)
	if path == "" {
		os.Exit(m.Run())
	}
	f, err := Create(path)
	if err == nil {
		_, err = io.WriteString(f, strings.Repeat("new", 1<<16))
	}
	if err == nil && os.Getenv(asWriterStops) == "finished" {
		err = f.Finish()
	}
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("there\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test is
}

// writer starts a process that has begun to write a file.
func writer(t *testing.T, path, stops string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asWriter+"="+path, asWriterStops+"="+stops)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// kill ends a process as kill -9 does. One that is gone already stays so.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// leftovers lists the unfinished files of a folder.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, dir), func(name string) bool {
		match, _ := filepath.Match(Leftovers, name)
		return !match
	})
}

// TestSweep kills a process that writes, between others that go on writing to
// the same folder: one in the middle of its file, one that has finished it, and
// one that is stopped. The next process that writes there removes the file of
// the killed one alone.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var living []*exec.Cmd
	for _, stops := range []string{"writing", "finished", "writing"} {
		living = append(living, writer(t, path(stops), stops))
	}
	if err := living[2].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := leftovers(t, dir)
	if len(before) != len(living) {
		t.Fatalf("%d processes write %v", len(living), before)
	}
	put(t, path("dead"), "old")
	dying := []*exec.Cmd{writer(t, path("dead"), "writing"), writer(t, path("dead"), "finished")}
	for _, cmd := range dying {
		kill(cmd)
	}
	holds(t, path("dead"), "old")
	if got := leftovers(t, dir); len(got) != len(before)+2 {
		t.Fatalf("two killed processes left %v", got)
	}
	foreign := []string{".redfox-7-0.partial", ".redfox-notes.partial"}
	for _, name := range foreign {
		if err := os.WriteFile(path(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	swept.Delete(dir) // as in a new process
	put(t, path("out"), "new")
	want := slices.Sorted(slices.Values(append(foreign, before...)))
	if got := leftovers(t, dir); !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
	for _, cmd := range living {
		kill(cmd)
	}
	swept.Delete(dir)
	put(t, path("out"), "newer")
	if got := leftovers(t, dir); !slices.Equal(got, foreign) {
		t.Errorf("left are %v, want %v", got, foreign)
	}
}

// TestSweepOfAnotherKernel holds that what another kernel may be writing stays
// on a file system that machines share, and goes where no other machine can be
// at work.
func TestSweepOfAnotherKernel(t *testing.T) {
	local := localSystems
	defer func() { localSystems = local }()
	dir := t.TempDir()
	name := filepath.Join(dir, ".redfox-00000000-7-0.partial")
	for _, shared := range []bool{true, false} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var info syscall.Statfs_t
		if err := syscall.Fstatfs(int(f.Fd()), &info); err != nil {
			t.Fatal(err)
		}
		f.Close()
		localSystems = nil
		if !shared {
			localSystems = []int64{int64(uint32(info.Type))}
		}
		swept.Delete(dir)
		put(t, filepath.Join(dir, "out"), "new")
		if left := len(leftovers(t, dir)) > 0; left != shared {
			t.Errorf("on a file system that is shared, %v, the file stays: %v", shared, left)
		}
	}
}

// TestCreateDuringSweep makes files while others sweep as fast as they can.
func TestCreateDuringSweep(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 300 {
			put(t, filepath.Join(dir, "out"), "whole")
		}
	}()
	for {
		select {
		case <-done:
			holds(t, filepath.Join(dir, "out"), "whole")
			return
		default:
			swept.Delete(dir)
			sweepOnce(everywhere{}, dir)
		}
	}
}
