package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

// fitting has a value that each flag takes which is a number, a time or a size.
var fitting = map[string]string{
	"limit": "10", "depth": "10", "threads": "4", "runs": "10", "sf": "10", "timeout": "30s",
	"memory": "8G", "device-memory": "8G",
}

// The flags whose values are folders that are read, and files that are written.
var (
	readFolders  = []string{"facts", "queries-from"}
	writtenFiles = []string{"profile", "output"}
)

// usage returns a mistake on the command line, and what to write instead.
func usage(help, format string, args ...any) *usageError {
	return &usageError{message: fmt.Sprintf(format, args...), help: help}
}

// wrongValue words a value that a flag does not take.
func wrongValue(flag, value, problem string) *usageError {
	e := &usageError{message: fmt.Sprintf("--%s %s %s", flag, shellQuote(value), problem)}
	if fit, ok := fitting[flag]; ok {
		e.help = fmt.Sprintf("write, for example, --%s %s", flag, fit)
	}
	return e
}

// unparsed words a value that package flag could not parse, by the type of its
// flag.
func unparsed(flag, value string) *usageError {
	make, ok := flagIndex()[flag]
	if !ok {
		return usage("", "--%s does not take %q", flag, value)
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	isNumber := err == nil || errors.Is(err, strconv.ErrRange)
	switch make().(type) {
	case *cli.DurationFlag:
		if isNumber && number >= 0 {
			help := fmt.Sprintf("write --%s %ss for seconds, or ms, m or h", flag,
				strings.TrimSpace(value))
			return usage(help, "--%s %s has no unit", flag, shellQuote(value))
		}
		return wrongValue(flag, value, "is not a time with a unit")
	case *cli.IntFlag, *cli.Int64Flag:
		if isNumber && number > 1<<62 {
			return wrongValue(flag, value, "is too large")
		}
		return wrongValue(flag, value, "is not a whole number in digits")
	case *cli.Float64Flag:
		return wrongValue(flag, value, "is not a number")
	case *cli.BoolFlag:
		return usage("write --"+flag, "--%s takes no value, and has %q", flag, value)
	}
	return usage("", "--%s does not take %q", flag, value)
}

// checkValues checks those values of flags that can be checked before the
// command does anything.
func checkValues(c *cli.Context) error {
	given := map[string]bool{} // cli's IsSet looks at all flags for each
	for _, name := range c.LocalFlagNames() {
		given[name] = true
	}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !given[name] {
			continue
		}
		var values []string
		switch f.(type) {
		case *cli.StringFlag:
			values = []string{c.String(name)}
		case *cli.StringSliceFlag:
			values = c.StringSlice(name)
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			return usage("leave the flag out, or give it a value", "the value of --%s is empty",
				name)
		}
	}
	for _, name := range readFolders {
		if err := checkFolder(name, c.String(name)); err != nil {
			return err
		}
	}
	for _, name := range writtenFiles {
		if err := checkWritten(name, c.String(name)); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder checks that a folder can be read.
func checkFolder(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if flag == "facts" && driver.IsRemote(dir) {
		if driver.IsRemoteFolder(dir) {
			return nil // the loader asks for its objects
		}
		return usage("name what each predicate reads, as in --fact PRED=https://HOST/FILE or "+
			"--fact PRED='s3://BUCKET/FOLDER/*.csv'",
			"--facts %s: only a folder of S3 has facts that are bound by name", shellQuote(dir))
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil && flag == "facts" && strings.Contains(dir, "="):
		return usage("to name what a predicate reads, write --fact "+shellQuote(dir),
			"--facts %s: %v", shellQuote(dir), reason(err))
	case err != nil:
		return usage("name a folder that is there", "--%s %s: %v", flag, shellQuote(dir),
			reason(err))
	case !info.IsDir() && flag == "facts" && (driver.IsDatabase(dir) || driver.IsStored(dir)):
		return nil
	case !info.IsDir():
		help := "name its folder"
		if flag == "facts" {
			help = fmt.Sprintf("write --facts %s, or --fact PRED=%s for this file alone",
				shellQuote(filepath.Dir(dir)), shellQuote(dir))
		}
		return usage(help, "--%s %s: this is a file, not a folder", flag, shellQuote(dir))
	}
	if _, err := os.ReadDir(dir); err != nil {
		return cannot("read the folder of --"+flag, dir, err)
	}
	return nil
}

// checkWritten checks that a file can be where it is to be written, before what
// is to be in it is computed.
func checkWritten(flag, file string) error {
	if file == "" || file == "-" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return usage("name a file in it", "--%s %s: this is a folder, not a file", flag,
			shellQuote(file))
	}
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage("make it with mkdir -p "+shellQuote(dir), "--%s %s: there is no folder %s",
			flag, shellQuote(file), dir)
	case err != nil:
		return cannotWrite(file, err)
	case !info.IsDir():
		return usage("name a file in a folder", "--%s %s: %s is a file, not a folder",
			flag, shellQuote(file), dir)
	}
	return nil
}

// reason is what the operating system says in an error about a file.
func reason(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}
