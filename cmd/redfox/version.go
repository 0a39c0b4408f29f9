package main

import (
	"fmt"
	goruntime "runtime"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
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

// buildVersion names the version of redfox and what it was built with.
func buildVersion() string {
	return fmt.Sprintf("%s %s %s/%s", redfox.Version(), goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
}
