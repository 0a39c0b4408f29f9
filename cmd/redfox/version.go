package main

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func versionCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of redfox and what it was built with",
		Action: func(c *cli.Context) error {
			fmt.Fprintln(con.out, "redfox", buildVersion())
			return nil
		},
	}
}

// buildVersion names the module version or, of a build from a checkout, the
// commit.
func buildVersion() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && (version == "(devel)" || version == ""):
				version = "commit " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				version += " with changes"
			}
		}
	}
	return fmt.Sprintf("%s %s %s/%s", version, goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
}
