package kernelcache

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// object returns what the tests store under a key: its length and bytes follow
// from the key.
func object(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return bytes.Repeat(sum[:], 1+int(sum[0])%64)
}

// newCache returns a cache in a folder of its own, which is private whatever
// the user's mask.
func newCache(t *testing.T, bound int64) *Cache {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return New(dir, bound)
}

func TestGetWhatWasPut(t *testing.T) {
	c := New(filepath.Join(t.TempDir(), "deep", "cache"), DefaultBound)
	if _, ok := c.Get("a"); ok {
		t.Fatal("an empty cache has an entry")
	}
	for _, key := range []string{"a", "b", "", "a\x00b"} {
		c.Put(key, object(key))
		if got, ok := c.Get(key); !ok || !bytes.Equal(got, object(key)) {
			t.Errorf("key %q: got %d bytes, %v", key, len(got), ok)
		}
	}
	c.Put("a", nil)
	if got, ok := c.Get("a"); !ok || len(got) != 0 {
		t.Errorf("an entry is not replaced: %d bytes, %v", len(got), ok)
	}
	if got, ok := New(c.Dir(), DefaultBound).Get("b"); !ok || !bytes.Equal(got, object("b")) {
		t.Error("another cache in the folder does not have the entry")
	}
}

// TestRecordsHaveTheirExtension removes the files of records of runs, after
// which the code is still there, and holds that they count as entries.
func TestRecordsHaveTheirExtension(t *testing.T) {
	c := newCache(t, DefaultBound)
	keys := []string{"code\x00a", "records\x00a", "records"}
	for _, key := range keys {
		c.Put(key, object(key))
	}
	root, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if entries, _ := scan(root); len(entries) != len(keys) {
		t.Errorf("%d of %d entries are known", len(entries), len(keys))
	}
	files, err := filepath.Glob(filepath.Join(c.Dir(), "*.record"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the records are %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if _, ok := c.Get(key); ok != (i != 1) {
			t.Errorf("entry %q is there: %v", key, ok)
		}
	}
}

func TestWhereTheCacheIs(t *testing.T) {
	t.Setenv(Variable, "")
	none := Open()
	if none != nil {
		t.Errorf("with %s set to nothing there is a cache in %s", Variable, none.Dir())
	}
	none.Put("a", object("a"))
	if _, ok := none.Get("a"); ok || none.Dir() != "" {
		t.Error("no cache has an entry")
	}
	dir := t.TempDir()
	t.Setenv(Variable, dir)
	if c := Open(); c.Dir() != dir {
		t.Errorf("%s=%s: the cache is in %s", Variable, dir, c.Dir())
	}
	os.Unsetenv(Variable)
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	if c := Open(); c == nil || filepath.Base(c.Dir()) != "redfox" {
		t.Errorf("the user's cache is in %q", c.Dir())
	}
}

// TestDamagedEntries alters every part of an entry's file. None of it is taken
// for the entry, and the next Put mends it.
func TestDamagedEntries(t *testing.T) {
	c := newCache(t, DefaultBound)
	id := sha256.Sum256([]byte("a"))
	whole := encode(id, object("a"))
	damaged := map[string][]byte{
		"empty":          {},
		"longer":         append(bytes.Clone(whole), 0),
		"of another key": encode(sha256.Sum256([]byte("b")), object("a")),
		"foreign":        []byte("#!/bin/sh\nexit 0\n"),
		"older version":  append([]byte("redfox kernel 0\n"), whole[len(magic):]...),
	}
	for cut := 1; cut < len(whole); cut += 7 {
		damaged[fmt.Sprintf("cut to %d", cut)] = whole[:cut]
	}
	for at := range whole {
		altered := bytes.Clone(whole)
		altered[at] ^= 0x10
		damaged[fmt.Sprintf("altered at %d", at)] = altered
	}
	for what, data := range damaged {
		if err := os.WriteFile(c.path("a"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get("a"); ok {
			t.Errorf("an entry that is %s is taken", what)
		}
	}
	c.Put("a", object("a"))
	if got, ok := c.Get("a"); !ok || !bytes.Equal(got, object("a")) {
		t.Error("the entry is not mended")
	}
}

// size returns the size of a folder's entries and their number.
func size(t *testing.T, dir string) (total int64, entries int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
		entries++
	}
	return total, entries
}

func TestBound(t *testing.T) {
	const bound = 32 << 10
	c := newCache(t, bound)
	for i := range 200 {
		key := strconv.Itoa(i)
		c.Put(key, object(key))
		if total, _ := size(t, c.Dir()); total > bound {
			t.Fatalf("after %d objects the entries take %d bytes of %d", i, total, bound)
		}
		if _, ok := c.Get(key); !ok {
			t.Fatalf("object %d is not there after it was put", i)
		}
	}
	if total, entries := size(t, c.Dir()); total < bound/2 || entries < 2 {
		t.Errorf("%d entries of %d bytes are left of a bound of %d", entries, total, bound)
	}
	before, _ := size(t, c.Dir())
	c.Put("large", make([]byte, bound))
	if after, _ := size(t, c.Dir()); after != before {
		t.Error("an object larger than the bound has changed the cache")
	}
}

// TestScansAreRare holds that a full cache is scanned about once for each
// sixteenth of its bound that is written.
func TestScansAreRare(t *testing.T) {
	const each, bound, puts = 1000, 256_000, 600
	c := newCache(t, bound)
	scans := 0
	for i := range puts {
		room := c.room
		if c.Put(strconv.Itoa(i), make([]byte, each)); c.room > room-each {
			scans++
		}
	}
	if most := 2 * puts * each / (bound / 16); scans > most || scans == 0 {
		t.Errorf("%d scans for %d entries, at most %d", scans, puts, most)
	}
}

// TestOldestGoFirst fills a cache whose first entry is used again and again: it
// stays, the others go in order.
func TestOldestGoFirst(t *testing.T) {
	const each = 1000
	c := newCache(t, 10*(each+int64(headerSize)))
	put := func(i int) { c.Put(strconv.Itoa(i), make([]byte, each)) }
	age := func(i int, d time.Duration) {
		at := time.Now().Add(-d)
		if err := os.Chtimes(c.path(strconv.Itoa(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		put(i)
		age(i, time.Duration(100-i)*time.Minute)
	}
	if _, ok := c.Get("0"); !ok {
		t.Fatal("the first entry is not there")
	}
	put(10)
	for i, want := range []bool{true, false, false, true, true, true, true, true, true, true,
		true} {
		if _, ok := c.Get(strconv.Itoa(i)); ok != want {
			t.Errorf("entry %d is there: %v, want %v", i, ok, want)
		}
	}
}

// TestOtherFiles fills a cache in whose folder there are files that are no
// entries: they stay, and do not count.
func TestOtherFiles(t *testing.T) {
	c := newCache(t, 2<<10)
	for _, name := range []string{".redfox-1-0.partial", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(c.Dir(), name), make([]byte, 4<<10),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.Put("a", object("a"))
	if _, ok := c.Get("a"); !ok {
		t.Error("the entry is not there")
	}
	for _, name := range []string{".redfox-1-0.partial", "notes.txt"} {
		if _, err := os.Stat(filepath.Join(c.Dir(), name)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadOnly reads from a folder that cannot be written to, and puts into
// places that cannot be folders.
func TestReadOnly(t *testing.T) {
	c := newCache(t, DefaultBound)
	dir := c.Dir()
	c.Put("a", object("a"))
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	c.Put("b", object("b")) // a privileged user may; nobody fails
	if got, ok := c.Get("a"); !ok || !bytes.Equal(got, object("a")) {
		t.Error("an entry of a read-only folder is not read")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/redfox"} {
		c := New(dir, DefaultBound)
		c.Put("a", object("a"))
		if _, ok := c.Get("a"); ok {
			t.Errorf("%s holds an entry", dir)
		}
	}
}

// asWorker, when set, makes the test binary hammer the cache in the folder that
// it names.
const asWorker = "REDFOX_TEST_CACHE_WORKER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asWorker); dir != "" {
		hammer(dir)
		return
	}
	os.Exit(m.Run())
}

const hammerBound = 64 << 10

// hammer puts and gets entries that all workers share, damages some, and exits
// with 1 if one ever has the wrong bytes.
func hammer(dir string) {
	c := New(dir, hammerBound)
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for range 1500 {
		key := strconv.Itoa(rng.IntN(100))
		switch rng.IntN(8) {
		case 0, 1, 2, 3:
			c.Put(key, object(key))
		case 4:
			_ = os.Truncate(c.path(key), int64(rng.IntN(200)))
		default:
			if got, ok := c.Get(key); ok && !bytes.Equal(got, object(key)) {
				fmt.Printf("key %s has %d wrong bytes\n", key, len(got))
				os.Exit(1)
			}
		}
	}
}

// TestProcesses lets two processes use one folder at once.
func TestProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := newCache(t, hammerBound).Dir()
	const processes = 2
	var workers []*exec.Cmd
	var outputs [processes]bytes.Buffer
	for i := range processes {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), asWorker+"="+dir)
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, cmd)
	}
	for i, cmd := range workers {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i].String())
		}
	}
	total, entries := size(t, dir)
	if most := int64(hammerBound + processes*hammerBound/16); total > most || entries == 0 {
		t.Errorf("%d entries of %d bytes are left, more than %d", entries, total, most)
	}
	if partial, _ := filepath.Glob(filepath.Join(dir, atomicfile.Leftovers)); len(partial) > 0 {
		t.Errorf("files are left half written: %v", partial)
	}
}
