// Command protoc-gen-idem is the plugin of protoc and buf that emits the helpers of idem for Go,
// Java and Python. See chapter 11 of the spec for its parameters.
package main

import (
	"fmt"
	"os"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/emit"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("protoc-gen-idem", emit.PluginVersion)
		return
	}
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "protoc-gen-idem: unknown argument %q: protoc and buf run this program, which takes --version alone\n", os.Args[1])
		os.Exit(2)
	}
	if err := gen.Run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "protoc-gen-idem:", err)
		os.Exit(1)
	}
}
