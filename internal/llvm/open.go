package llvm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/dynlib"
	"github.com/redfoxdb/redfox/internal/malloc"
)

// PathVariable is the environment variable that names the library to open, as a
// path or as a name that the dynamic linker looks for. Where it is set, no
// other library is tried.
const PathVariable = "REDFOX_LLVM"

// The versions that Open accepts.
const (
	oldest = 15
	newest = 19
)

// Version is a version of LLVM. Version 15 does not say its minor and patch
// numbers; they are zero.
type Version struct {
	Major, Minor, Patch int
}

// String returns the version as LLVM writes it, or the major number alone where
// the rest is not known.
func (v Version) String() string {
	if v == (Version{Major: v.Major}) {
		return fmt.Sprint(v.Major)
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Library is libLLVM: one that is open, or one that an earlier process has
// opened, which opens when something is compiled (see [Recall]).
type Library struct {
	about
	fn functions

	once  sync.Once // opens a recalled library
	wrong error     // why it did not open

	onDiagnostic uintptr // callbacks that C can call
	onReport     uintptr
}

// about is what is known of a library, and what it says of the processor.
type about struct {
	Name    string // by which it was opened
	File    string // the path of the file
	Is      string // the identity of the file, see package fileid
	Build   string // the identity of its contents
	Version Version
	Host    TargetOptions
	PTX     bool // has the target NVPTX
}

// Path returns the name by which the library was opened.
func (l *Library) Path() string { return l.Name }

// Version returns the library's version.
func (l *Library) Version() Version { return l.about.Version }

// Key tells code for the host apart that is made by other libraries, or for
// other processors.
func (l *Library) Key() string {
	return fmt.Sprintf("%v\x00%s\x00%+v", l.Version(), l.Build, l.Host)
}

// Attempt is one library that Open tried, and why it was not taken.
type Attempt struct {
	Name   string
	Reason string
}

// NotFoundError says that this machine has no libLLVM that redfox can use.
type NotFoundError struct {
	Tried []Attempt // in the order of trying
	Named bool      // the one that was tried is REDFOX_LLVM's
}

// Error names what is needed, what was found of another kind, and what to do. A
// name that leads nowhere is worth a word only if the user gave it.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "libLLVM %d to %d is not there", oldest, newest)
	for _, a := range e.Tried {
		switch {
		case e.Named:
			fmt.Fprintf(&b, "; %s is %s: %s", PathVariable, a.Name, a.Reason)
		case a.Reason != notThere:
			fmt.Fprintf(&b, "; %s: %s", a.Name, a.Reason)
		}
	}
	b.WriteString("; ")
	b.WriteString(e.Advice())
	return b.String()
}

// Advice says what to install, and how to name a library that is elsewhere.
func (e *NotFoundError) Advice() string {
	install := "apt-get install libllvm15 (Debian, Ubuntu) or dnf install llvm-libs (Fedora)"
	switch {
	case !dynlib.Supported:
		return "native code and PTX can be compiled on Linux and macOS, on amd64 and arm64"
	case goruntime.GOOS == "darwin":
		install = "brew install llvm@19"
	}
	return "install it with " + install + ", or set " + PathVariable + " to its path"
}

// notThere is the reason of an attempt that found no file.
const notThere = "no such library"

// Open opens libLLVM: the one that the environment variable REDFOX_LLVM names,
// or else the newest of versions 19 to 15 under the names and in the folders
// that Debian, Ubuntu, Fedora, Arch, Alpine and Homebrew use. That happens once
// per process; later calls return the same library or the same error, which is
// a *NotFoundError.
func Open() (*Library, error) { return openOnce() }

var openOnce = sync.OnceValues(func() (*Library, error) {
	failure := &NotFoundError{}
	names := candidates()
	if name := os.Getenv(PathVariable); name != "" {
		names, failure.Named = []string{name}, true
	}
	for _, name := range names {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		failure.Tried = append(failure.Tried, Attempt{name, err.Error()})
	}
	return nil, failure
})

// Installed reports whether a library that Open tries is in a usual folder, so
// that Open is sure to find one unless it is damaged. It opens nothing, and
// looks nowhere if the environment names folders or a library.
func Installed() bool {
	if os.Getenv(PathVariable) != "" || os.Getenv("LD_LIBRARY_PATH") != "" || !dynlib.Supported {
		return false
	}
	return slices.ContainsFunc(candidates(), func(name string) bool {
		if filepath.IsAbs(name) {
			return !isMissing(name)
		}
		return slices.ContainsFunc(linkerFolders(), func(folder string) bool {
			return !isMissing(filepath.Join(folder, name))
		})
	})
}

// linkerFolders returns where Linux's distributions have shared libraries.
func linkerFolders() []string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goruntime.GOARCH]
	return []string{"/usr/lib/" + arch + "-linux-gnu", "/usr/lib64", "/usr/lib"}
}

// candidates lists what Open tries. A bare name is looked up by the dynamic
// linker.
func candidates() []string {
	var out []string
	for v := newest; v >= oldest; v-- {
		if goruntime.GOOS == "darwin" {
			for _, prefix := range []string{os.Getenv("HOMEBREW_PREFIX"), "/opt/homebrew",
				"/usr/local"} {
				if prefix != "" {
					out = append(out,
						filepath.Join(prefix, fmt.Sprintf("opt/llvm@%d/lib/libLLVM.dylib", v)))
				}
			}
			continue
		}
		if v >= 18 { // the soname since 18.1
			out = append(out, fmt.Sprintf("libLLVM.so.%d.1", v))
		}
		out = append(out,
			fmt.Sprintf("libLLVM-%d.so.1", v), // Debian, Ubuntu
			// upstream's soname to 17: Fedora, Arch
			fmt.Sprintf("libLLVM-%d.so", v),
			fmt.Sprintf("/usr/lib/llvm-%d/lib/libLLVM.so", v), // Debian's folder of a version
			fmt.Sprintf("/usr/lib64/llvm%d/lib/libLLVM-%d.so", v, v),
			fmt.Sprintf("/usr/lib/llvm%d/lib/libLLVM-%d.so", v, v), // Arch, Alpine
		)
		if prefix := os.Getenv("HOMEBREW_PREFIX"); prefix != "" {
			out = append(out, filepath.Join(prefix, fmt.Sprintf("opt/llvm@%d/lib/libLLVM.so", v)))
		}
	}
	return out
}

// open opens one library, checks its version and binds its functions.
func open(name string) (*Library, error) {
	malloc.Limit()
	handle, err := dynlib.Open(name, true)
	if err != nil {
		// The message starts with the name of the file that is missing, which
		// may be a library that libLLVM needs.
		if strings.HasPrefix(err.Error(), name+": cannot open shared object file: No such file") ||
			isMissing(name) {
			return nil, errors.New(notThere)
		}
		return nil, err
	}
	l := &Library{about: about{Name: name, Version: versionOf(handle)}}
	l.once.Do(func() {}) // there is nothing left to do
	switch version := l.Version(); {
	case version.Major == 0:
		return nil, fmt.Errorf("not libLLVM, or one older than %d", oldest)
	case version.Major < oldest || version.Major > newest:
		return nil, fmt.Errorf("version %v", version)
	}
	if missing := l.fn.bindAll(handle); len(missing) > 0 {
		return nil, fmt.Errorf("version %v, but without %s", l.Version(),
			strings.Join(missing, ", "))
	}
	if !initializeBackend(handle, hostBackend()) {
		return nil, fmt.Errorf("built without the target %s", hostBackend())
	}
	l.PTX = initializeBackend(handle, "NVPTX")
	l.installHandlers()
	l.Host = l.hostOptions()
	l.File, l.Is, l.Build = fileOf(handle)
	return l, nil
}

// isMissing reports whether name is a path that leads nowhere.
func isMissing(name string) bool {
	if !filepath.IsAbs(name) {
		return false
	}
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}
