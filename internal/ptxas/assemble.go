package ptxas

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Usage is what a kernel or a function takes, in bytes except for registers.
type Usage struct {
	Name        string
	Registers   int // of a thread; of kernels only
	Stack       int // frame of local memory of a thread, spills included
	SpillStores int
	SpillLoads  int
	Shared      int // static shared memory of a block; of kernels only
}

// String lists what the kernel takes; stack and spills only if there are any.
func (u Usage) String() string {
	s := fmt.Sprintf("%s: %d registers", u.Name, u.Registers)
	if u.Shared > 0 {
		s += fmt.Sprintf(", %d bytes shared", u.Shared)
	}
	if u.Stack > 0 {
		s += fmt.Sprintf(", %d bytes of stack", u.Stack)
	}
	if u.SpillStores > 0 || u.SpillLoads > 0 {
		s += fmt.Sprintf(", spills %d bytes out and %d in", u.SpillStores, u.SpillLoads)
	}
	return s
}

// Report is what the assembler says of a text.
type Report struct {
	Arch      string
	Kernels   []Usage // by name
	Functions []Usage // device functions that are called and not inlined, by name
	Warnings  []string
}

// Kernel returns the usage of the kernel of a name.
func (r Report) Kernel(name string) (Usage, bool) {
	for _, k := range r.Kernels {
		if k.Name == name {
			return k, true
		}
	}
	return Usage{}, false
}

// Error is PTX that the assembler refuses.
type Error struct {
	Arch    string
	Message string // the assembler's, with line numbers
	Lines   string // those lines of the PTX
}

// Error gives the assembler's message and the lines that it names.
func (e *Error) Error() string {
	return fmt.Sprintf("ptxas -arch %s: %s\n%s", e.Arch, e.Message, e.Lines)
}

// Assemble gives PTX to the assembler for an architecture such as sm_90. A text
// that is refused is an *Error.
func Assemble(ptx []byte, arch string) (Report, error) {
	path, err := Find()
	if err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp("", "ptxas")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "kernels.ptx")
	if err := os.WriteFile(file, ptx, 0o644); err != nil {
		return Report{}, err
	}
	said, err := exec.Command(path, "-v", "-arch", arch, file, "-o",
		filepath.Join(dir, "kernels.cubin")).CombinedOutput()
	text := strings.ReplaceAll(string(said), file, "kernels.ptx")
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		return Report{}, &Error{Arch: arch, Message: strings.TrimSpace(text),
			Lines: named(text, string(ptx))}
	case err != nil:
		return Report{}, err
	}
	r, err := parse(text)
	r.Arch = arch
	return r, err
}

var lineNumber = regexp.MustCompile(`, line (\d+);`)

// named returns the first few lines of a PTX that a message names.
func named(message, ptx string) string {
	lines := strings.Split(ptx, "\n")
	var out []string
	for _, m := range lineNumber.FindAllStringSubmatch(message, 5) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(lines) {
			out = append(out, fmt.Sprintf("%6d  %s", n, lines[n-1]))
		}
	}
	return strings.Join(slices.Compact(out), "\n")
}

// The lines of ptxas -v that are read. The properties of a kernel follow the
// line that says that it is compiled, those of functions follow all kernels.
var (
	compiling  = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	properties = regexp.MustCompile(`Function properties for (\S+)`)
	frame      = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers  = regexp.MustCompile(`Used (\d+) registers`)
	shared     = regexp.MustCompile(`(\d+) bytes smem`)
)

// parse reads the output of ptxas -v.
func parse(text string) (Report, error) {
	var r Report
	usage := map[string]*Usage{}
	var kernels, functions []*Usage
	var kernel, function *Usage // those that lines belong to
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := compiling.FindStringSubmatch(line); m != nil {
			kernel = &Usage{Name: m[1]}
			usage[m[1]] = kernel
			kernels = append(kernels, kernel)
		} else if m := properties.FindStringSubmatch(line); m != nil {
			if function = usage[m[1]]; function == nil {
				function = &Usage{Name: m[1]}
				usage[m[1]] = function
				functions = append(functions, function)
			}
		} else if m := frame.FindStringSubmatch(line); m != nil && function != nil {
			function.Stack, function.SpillStores, function.SpillLoads = number(m[1]), number(m[2]),
				number(m[3])
		} else if m := registers.FindStringSubmatch(line); m != nil && kernel != nil {
			kernel.Registers = number(m[1])
			if m := shared.FindStringSubmatch(line); m != nil {
				kernel.Shared = number(m[1])
			}
		} else if _, warning, ok := strings.Cut(line, "warning :"); ok {
			r.Warnings = append(r.Warnings, strings.TrimSpace(warning))
		}
	}
	if err := lines.Err(); err != nil {
		return r, err
	}
	r.Kernels, r.Functions = sorted(kernels), sorted(functions)
	for _, k := range r.Kernels {
		if k.Registers == 0 {
			return r, fmt.Errorf("ptxas -v does not say what kernel %s takes:\n%s", k.Name, text)
		}
	}
	return r, nil
}

// number reads digits that a pattern has matched.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// sorted copies usages, by name.
func sorted(list []*Usage) []Usage {
	var out []Usage
	for _, u := range list {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Usage) int { return strings.Compare(a.Name, b.Name) })
	return out
}
