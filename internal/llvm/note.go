package llvm

import (
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/internal/dynlib"
	"github.com/redfoxdb/redfox/internal/fileid"
)

// Note returns a text by which a later process can [Recall] the library, under
// the key [Place]; not ok where the file of the library has no identity.
func (l *Library) Note() (note string, ok bool) {
	text, err := json.Marshal(l.about)
	return string(text), err == nil && l.Is != ""
}

// Recall returns the library of a note if its file is what it was, without
// opening it. The first call that compiles opens it. Its version, its options
// for the host and its key are those of the note.
func Recall(note string) (*Library, bool) {
	l := &Library{}
	if json.Unmarshal([]byte(note), &l.about) != nil || l.Is == "" {
		return nil, false
	}
	info, err := os.Stat(l.File)
	if err != nil || fileid.Of(info) != l.Is {
		return nil, false
	}
	return l, true
}

// Open opens a recalled library. What compiles calls it, and returns its error,
// a *NotFoundError. It opens the file of the note, so the code is that of the
// key even if the function Open would find another library by now.
func (l *Library) Open() error {
	l.once.Do(func() {
		opened, err := open(l.File)
		if err == nil && opened.Key() != l.Key() {
			err = errors.New("it has just been replaced")
		}
		if err != nil {
			l.wrong = &NotFoundError{Tried: []Attempt{{l.File, err.Error()}}}
			return
		}
		l.fn, l.onDiagnostic, l.onReport = opened.fn, opened.onDiagnostic, opened.onReport
	})
	return l.wrong
}

// Place identifies the processor, and what decides which library [Open] finds:
// the environment, the linker's index, and the folders where libraries are. It
// changes at least whenever another library is found; not ok where the
// processor cannot be identified.
func Place() (key string, ok bool) {
	cpu := processor()
	if cpu == "" || !dynlib.Supported {
		return "", false
	}
	var b strings.Builder
	add := func(path string) {
		seen := "none"
		if info, err := os.Stat(path); err == nil {
			seen = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
		}
		fmt.Fprintf(&b, "%s: %s\n", path, seen)
	}
	fmt.Fprintf(&b, "%s\n", cpu)
	for _, v := range []string{PathVariable, "LD_LIBRARY_PATH", "HOMEBREW_PREFIX"} {
		fmt.Fprintf(&b, "%s=%s\n", v, os.Getenv(v))
	}
	if name := os.Getenv(PathVariable); strings.Contains(name, "/") {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", false
		}
		add(path)
	}
	add("/etc/ld.so.cache")
	for _, folder := range linkerFolders() {
		add(folder)
	}
	for _, folder := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		add(folder)
	}
	for _, name := range candidates() {
		if filepath.IsAbs(name) {
			add(name)
		}
	}
	return b.String(), true
}

// fileOf returns the path of the file that a library was loaded from, the
// file's identity, and that of its contents: the linker's build ID, or what the
// file system knows. Each is "" where it is not known.
func fileOf(library uintptr) (path, is, build string) {
	path = dynlib.FileOf(dynlib.Symbol(library, "LLVMContextCreate"))
	if path == "" {
		return "", "", ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	info, err := os.Stat(path)
	if err != nil {
		return path, "", ""
	}
	build = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if s := f.Section(".note.gnu.build-id"); s != nil {
			if id, err := s.Data(); err == nil {
				build = hex.EncodeToString(id)
			}
		}
	}
	return path, fileid.Of(info), build
}
