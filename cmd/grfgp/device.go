package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp"
	"grfgp/internal/cli"
)

// deviceFlag is that of verbs which compute models: where they do.
type deviceFlag struct{ cli.Choice }

func (d *deviceFlag) flag(cmd *cobra.Command) {
	d.Choice.Flag(cmd, "device", "where to compute; auto: also on a graphics card, if there is one, gpu: the same, but an error without "+
		"one; results agree closely", grfgp.Devices()...)
}

// flagOfStudies is the flag of verbs for studies.
func (d *deviceFlag) flagOfStudies(cmd *cobra.Command, to *pflag.FlagSet) {
	words := []string{"cpu", "auto", "gpu"} // on the processor they are the same on every machine
	d.Choice = cli.Choice{Words: words, Value: words[0]}
	to.Var(&d.Choice, "device", cli.ChoiceHelp("where models are computed, unless a server does; suggestions that a graphics card "+
		"computed can be verified on such a card only", words))
	cli.Complete(cmd, "device", words...)
}

// name returns the device as a Spec has it; empty where a verb has no such flag.
func (d *deviceFlag) name(a *app) string {
	switch {
	case d.Value == "":
		return ""
	case !a.Ranks.Alone():
		return "cpu" // gpu was refused
	case d.Value == "auto":
		return ""
	}
	return d.Value
}

// checkDevice refuses a device that is not there, before anything is read or written.
func (a *app) checkDevice(flags *pflag.FlagSet) error {
	f := flags.Lookup("device")
	if f == nil || f.Value.String() != "gpu" {
		return nil
	}
	if !a.Ranks.Alone() {
		return cli.Usagef("--device gpu: ranks and a graphics card cannot be combined yet; leave it out")
	}
	_, err := grfgp.Card()
	return err
}

// tellLoss says that the card was lost, if nobody has said so.
func (a *app) tellLoss() {
	err := grfgp.CardLost()
	if err == nil || a.Talk == nil {
		return
	}
	for sentence := range a.told {
		if strings.Contains(sentence, err.Error()) {
			return
		}
	}
	a.Talk.Say("note: %v; went on with the processor", err)
}

// deviceFacts is what check says of the graphics card.
type deviceFacts struct {
	Name    string `json:"name,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`      // of its memory
	Free    int64  `json:"free_bytes,omitempty"` // of them
	Driver  string `json:"driver,omitempty"`
	Missing string `json:"missing,omitempty"` // why there is no card that can be used
}

// newDeviceFacts describes the card of this machine.
func newDeviceFacts() deviceFacts {
	c, err := grfgp.Card()
	if err != nil {
		return deviceFacts{Missing: err.Error()}
	}
	return deviceFacts{Name: c.Name, Bytes: c.Bytes, Free: c.Free, Driver: c.Driver}
}

func (d deviceFacts) words() string {
	if d.Name == "" {
		return fmt.Sprintf("processor only (%s)", d.Missing)
	}
	return fmt.Sprintf("%s, %v, %v free", d.Name, cli.Size(d.Bytes), cli.Size(d.Free))
}
