package main

import (
	_ "embed"
	"fmt"

	"github.com/urfave/cli/v2"
)

// completeFlag is the last argument of a command line that a shell wants
// completed.
const completeFlag = "--generate-bash-completion"

// The scripts that call redfox with completeFlag.
var (
	//go:embed shell/complete.bash
	bashScript string
	//go:embed shell/complete.zsh
	zshScript string
)

// fishHelp completes what redfox help has pages about.
const fishHelp = "complete -c redfox -n '__fish_seen_subcommand_from help' -f " +
	"-a '(redfox help " + completeFlag + ")'\n"

// completionCommand prints the script that makes a shell complete redfox's
// command lines.
func completionCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script that completes redfox's command lines in a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: "The script completes commands, flags, file names, and the pages of help.\n\n" +
			examplesMark +
			"source <(redfox completion bash)\n" +
			"redfox completion zsh > \"${fpath[1]}/_redfox\"\n" +
			"redfox completion fish > ~/.config/fish/completions/redfox.fish",
		Action: func(c *cli.Context) error {
			script := ""
			switch shell := c.Args().First(); shell {
			case "bash":
				script = bashScript
			case "zsh":
				script = zshScript
			case "fish":
				var err error
				if script, err = c.App.ToFishCompletion(); err != nil {
					return err
				}
				script += fishHelp
			case "":
				return &usageError{command: "completion", message: "the name of a shell is missing",
					help: "write redfox completion bash, zsh or fish"}
			default:
				return &usageError{command: "completion",
					message: fmt.Sprintf("there is no completion for the shell %s", shell),
					help:    "write redfox completion bash, zsh or fish"}
			}
			fmt.Fprintln(con.out, script)
			return nil
		},
	}
}

// manCommand prints the manual page that the CLI library makes of the command
// tree.
func manCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the manual page, for man -l",
		Description: "The page has every command and flag.\n\n" + examplesMark +
			"redfox man | man -l -\n" +
			"redfox man > /usr/local/share/man/man1/redfox.1",
		Action: func(c *cli.Context) error {
			page, err := c.App.ToManWithSection(1)
			if err != nil {
				return err
			}
			fmt.Fprintln(con.out, page)
			return nil
		},
	}
}
