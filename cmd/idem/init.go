package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
)

//go:embed template/*.tmpl
var initFiles embed.FS

var initTemplates = template.Must(template.ParseFS(initFiles, "template/*.tmpl"))

// initValues are what the templates of `idem init` are filled in with.
type initValues struct {
	Proto            string
	Go, Java, Python bool
	GoModule         string
}

func newInit(std streams) *cobra.Command {
	var (
		langs []string
		v     initValues
		force bool
	)
	command := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Set up a repository that uses the options of idem",
		Long: `Puts idem/v1/options.proto where the compiler finds it, and writes a buf.yaml, a buf.gen.yaml for
the languages and an idem.yaml. A file that is there with another content is never overwritten
without --force.`,
		Example: `  idem init --lang go,java
  idem init --lang python --proto api services/orders`,
		Args: upTo("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if err := v.setLanguages(langs); err != nil {
				return err
			}
			if err := v.check(dir); err != nil {
				return err
			}
			files, err := v.files()
			if err != nil {
				return err
			}
			if err := writeFiles(dir, files, force); err != nil {
				return err
			}
			tell(std, dir, files)
			fmt.Fprint(std.out, v.nextSteps())
			return nil
		},
	}
	f := command.Flags()
	f.StringSliceVar(&langs, "lang", nil, "languages to generate: go, java, python (repeatable)")
	f.StringVar(&v.Proto, "proto", "proto", "directory of the .proto files")
	f.StringVar(&v.GoModule, "go-module", "", "module path of the generated Go (default: that of go.mod)")
	f.BoolVar(&force, "force", false, "overwrite files")
	return command
}

func (v *initValues) setLanguages(langs []string) error {
	if len(langs) == 0 {
		return errors.New("no --lang: name the languages to generate, of go, java and python")
	}
	for _, lang := range langs {
		switch lang {
		case "go":
			v.Go = true
		case "java":
			v.Java = true
		case "python":
			v.Python = true
		default:
			return fmt.Errorf("--lang %s: there are go, java and python", lang)
		}
	}
	return nil
}

var (
	goModuleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)
	plainPath    = regexp.MustCompile(`^[A-Za-z0-9._/~-]+$`)
)

// check completes and checks the values.
func (v *initValues) check(dir string) error {
	v.Proto = path.Clean(filepath.ToSlash(v.Proto))
	if !filepath.IsLocal(v.Proto) || v.Proto == "." || !plainPath.MatchString(v.Proto) {
		return fmt.Errorf("--proto %s is no directory below the repository", v.Proto)
	}
	if !v.Go {
		if v.GoModule != "" {
			return errors.New("--go-module is for --lang go")
		}
		return nil
	}
	if v.GoModule == "" {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return errors.New("no go.mod to take the module's path from: name it with --go-module")
		}
		if m := goModuleLine.FindSubmatch(data); m != nil {
			v.GoModule = string(m[1])
		}
	}
	if !plainPath.MatchString(v.GoModule) {
		return fmt.Errorf("the module path %q is none", v.GoModule)
	}
	return nil
}

// files returns what is to be written.
func (v *initValues) files() ([]newFile, error) {
	files := []newFile{{path.Join(v.Proto, optionsproto.Path), optionsproto.Options, fileMode}}
	for _, name := range []string{"buf.yaml", "buf.gen.yaml", "idem.yaml"} {
		var b bytes.Buffer
		if err := initTemplates.ExecuteTemplate(&b, name+".tmpl", v); err != nil {
			return nil, err
		}
		files = append(files, newFile{name, b.Bytes(), fileMode})
	}
	return files, nil
}

// nextSteps tells what is left to do.
func (v *initValues) nextSteps() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
Next:
  1. Annotate a message in %s/:
       import "idem/v1/options.proto";
       message PaymentSucceeded {
         option (idem.v1.message) = {idempotency_key: "payments.payment_success:v1:{payment_id}"};
         string payment_id = 1;
       }
  2. Install buf and protoc-gen-idem`, v.Proto)
	if v.Go {
		b.WriteString(", protoc-gen-go")
	}
	if v.Java || v.Python {
		b.WriteString(", protoc")
	}
	b.WriteString(":\n       go install github.com/idem-spec/idem/cmd/protoc-gen-idem@latest\n")
	if v.Go {
		b.WriteString("       go install google.golang.org/protobuf/cmd/protoc-gen-go@latest\n")
	}
	b.WriteString("  3. buf generate\n")
	if v.Go {
		b.WriteString("  4. go get github.com/idem-spec/idem/runtime/go/idem\n")
	}
	return b.String()
}
