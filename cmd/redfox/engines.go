package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

func enginesCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:  "engines",
		Usage: "say which engines this machine can run, and why not the rest",
		Description: "Fastest first, with the GPUs that there are. The last line names the engine that runs take unless " +
			"--engine says otherwise.",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return &usageError{command: "engines", message: "engines takes no arguments"}
			}
			for _, e := range driver.Engines() {
				state := "no "
				if e.Available {
					state = "yes"
				}
				fmt.Fprintf(con.out, "%-4s  %s  %s\n", e.Name, state, e.Detail)
				if !e.Available && e.Help != "" {
					fmt.Fprintf(con.out, "           %s\n", e.Help)
				}
				if e.Name != driver.EngineGPU {
					continue
				}
				printDevices(con)
				if e.Available {
					fmt.Fprintln(con.out,
						"mixed yes  rows on a GPU and on the host at the same time, if --engine names it")
				}
			}
			auto, _, err := driver.ChooseEngine(driver.EngineAuto)
			if err != nil {
				return err
			}
			fmt.Fprint(con.out, "auto  go")
			if auto.Name != driver.EngineGo {
				fmt.Fprintf(con.out, " first; %s for loops that take long, and at once for much work",
					auto.Name)
			}
			fmt.Fprintln(con.out)
			return nil
		},
	}
}

// printDevices lists the GPUs. If there are none, the line of the engine says
// why.
func printDevices(con *console) {
	devices, err := driver.Devices()
	if err != nil {
		return
	}
	for _, d := range devices {
		free := ""
		if d.Usable {
			free = fmt.Sprintf(", %s free", size(d.Free))
		}
		fmt.Fprintf(con.out, "      %d    %s (%s), %s of memory%s, driver for CUDA %s: %s\n",
			d.Number, d.Name, d.Architecture, size(d.Memory), free, d.Driver, d.Detail)
	}
}

// engineFlags returns the engine that the flags mean (driver.EngineFor). Flags
// about a GPU are a mistake beside an engine that uses none.
func engineFlags(c *cli.Context) (string, error) {
	engine := driver.EngineFor(c.String("engine"), c.String("device"))
	if err := driver.CheckEngine(engine); err != nil {
		return "", err
	}
	switch engine {
	case driver.EngineGPU, driver.EngineMixed, driver.EngineAuto, "":
		return engine, nil
	}
	for _, flag := range []string{"device", "device-memory"} {
		if c.IsSet(flag) {
			return "",
				&usageError{message: fmt.Sprintf("--%s is about a GPU, and --engine %s uses none",
					flag, engine),
					help: "leave one of the two out"}
		}
	}
	return engine, nil
}
