package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release (-X main.version=v1.2.3).
var version string

// specVersion is the version of the specification that this command implements.
const specVersion = "1.0.0"

// buildInfo is what `idem version` tells.
type buildInfo struct {
	Version  string `json:"version"`
	Spec     string `json:"spec"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func build() buildInfo {
	b := buildInfo{Version: version, Spec: specVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok && b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is the text of `idem version` and `idem --version`.
func (b buildInfo) String() string {
	text := fmt.Sprintf("idem %s\nspec %s\n", b.Version, b.Spec)
	if b.Revision != "" {
		modified := ""
		if b.Modified {
			modified = ", modified"
		}
		text += fmt.Sprintf("revision %s of %s%s\n", b.Revision, b.Time, modified)
	}
	return text + fmt.Sprintf("%s %s\n", b.Go, b.Platform)
}

func newVersion(std streams) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Show the version of this command and of the specification",
		Args:  upTo(),
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if asJSON {
				return json.NewEncoder(std.out).Encode(b)
			}
			fmt.Fprint(std.out, b)
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return command
}
