package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
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
	NoVendor         bool
}

// Vendored is the directory of the options, which is idem's and not the user's.
func (v *initValues) Vendored() string { return path.Join(v.Proto, "idem") }

// Languages are the languages as idem.yaml lists them.
func (v *initValues) Languages() string {
	var all []string
	for _, l := range []struct {
		name string
		on   bool
	}{{"go", v.Go}, {"java", v.Java}, {"python", v.Python}} {
		if l.on {
			all = append(all, l.name)
		}
	}
	return strings.Join(all, ", ")
}

func newInit(std streams) *cobra.Command {
	var (
		langs         []string
		v             initValues
		force, update bool
	)
	command := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Set up a repository that uses the options of idem",
		Long: `Puts idem/v1/options.proto where the compiler finds it, and writes a buf.yaml, a buf.gen.yaml for
the languages and an idem.yaml. A file that is there with another content is never overwritten
without --force: it is shown what to merge into it, the others are written, and the exit code is 1.

Where idem is a module of the buf workspace, --no-vendor leaves the options out, and a buf.yaml as
it is.`,
		Example: `  idem init --lang go,java
  idem init --lang python --proto api services/orders
  idem init --no-vendor --lang go
  idem init --update`,
		Args: upTo("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if update {
				return v.update(cmd, dir, std)
			}
			if err := v.setLanguages(langs); err != nil {
				return err
			}
			if err := v.check(dir); err != nil {
				return err
			}
			files, err := v.files(dir)
			if err != nil {
				return err
			}
			return v.place(dir, files, force, std)
		},
	}
	f := command.Flags()
	f.StringSliceVar(&langs, "lang", nil, "languages to generate: go, java, python (repeatable)")
	f.StringVar(&v.Proto, "proto", "proto", "directory of the .proto files")
	f.StringVar(&v.GoModule, "go-module", "", "module path of the generated Go (default: that of go.mod)")
	f.BoolVar(&v.NoVendor, "no-vendor", false, "idem is a module of the buf workspace: write no options.proto")
	f.BoolVar(&update, "update", false, "only bring the vendored options.proto up to date")
	f.BoolVar(&force, "force", false, "overwrite files")
	offer(command, "lang", "go", "java", "python")
	return command
}

// update brings the vendored options up to date, and touches nothing else.
func (v *initValues) update(cmd *cobra.Command, dir string, std streams) error {
	for _, other := range []string{"lang", "go-module", "no-vendor", "force"} {
		if cmd.Flags().Changed(other) {
			return fmt.Errorf("--update is about the vendored options.proto alone: not with --%s", other)
		}
	}
	if err := v.checkProto(); err != nil {
		return err
	}
	files := []newFile{v.options()}
	if err := look(dir, files); err != nil {
		return err
	}
	if files[0].was == nothing {
		return brokenf("--update: there is no %s: name the directory of the .proto files with --proto, or leave --update out", files[0].in(dir))
	}
	if err := files[0].write(dir); err != nil {
		return err
	}
	tell(std, dir, files)
	return nil
}

// place writes the files that nothing is in the way of, and shows what the others would have said.
func (v *initValues) place(dir string, files []newFile, force bool, std streams) error {
	if err := look(dir, files); err != nil {
		return err
	}
	var placed, taken []newFile
	for _, f := range files {
		if f.was == another && !force {
			taken = append(taken, f)
			continue
		}
		if err := f.write(dir); err != nil {
			return err
		}
		placed = append(placed, f)
	}
	tell(std, dir, placed)
	var names []string
	for _, f := range taken {
		names = append(names, f.in(dir))
		fmt.Fprintf(std.out, "\n%s is in the way. %s\n", f.in(dir), v.merge(f))
	}
	fmt.Fprint(std.out, v.nextSteps())
	if len(taken) > 0 {
		return failf("not overwritten: %s\nMerge what is shown above, or say --force", strings.Join(names, ", "))
	}
	return nil
}

// merge says what to do about a file that is in the way.
func (v *initValues) merge(f newFile) string {
	if f.path == v.options().path {
		return "Bring it up to date: idem init --update --proto " + v.Proto
	}
	var b strings.Builder
	b.WriteString("Merge into it:\n")
	for line := range strings.Lines(string(f.data)) {
		b.WriteString("\n    " + strings.TrimSuffix(line, "\n"))
	}
	return b.String()
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
	goModuleLine = regexp.MustCompile(`(?m)^[ \t]*module\b(.*)$`)
	plainPath    = regexp.MustCompile(`^[A-Za-z0-9._/~-]+$`)
)

// check completes and checks the values.
func (v *initValues) check(dir string) error {
	if err := v.checkProto(); err != nil {
		return err
	}
	if !v.Go {
		if v.GoModule != "" {
			return errors.New("--go-module is for --lang go")
		}
		return nil
	}
	if v.GoModule != "" {
		if !plainPath.MatchString(v.GoModule) {
			return fmt.Errorf("--go-module %q is no module path", v.GoModule)
		}
		return nil
	}
	file := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("no go.mod to take the module's path from: name it with --go-module")
	}
	if err != nil {
		return brokenf("%w", err)
	}
	if v.GoModule, err = goModulePath(data); err != nil {
		return brokenf("%s %w: mend it, or name the path with --go-module", file, err)
	}
	return nil
}

// goModulePath returns the path that a go.mod says.
func goModulePath(data []byte) (string, error) {
	lines := goModuleLine.FindAllSubmatch(data, -1)
	if len(lines) != 1 {
		return "", fmt.Errorf("has %d module lines", len(lines))
	}
	text, _, _ := strings.Cut(string(lines[0][1]), "//")
	name := strings.TrimSpace(text)
	if n := len(name); n > 1 && (name[0] == '"' || name[0] == '`') && name[0] == name[n-1] {
		name = name[1 : n-1]
	}
	if !plainPath.MatchString(name) {
		return "", fmt.Errorf("says module %q, which is no module path", name)
	}
	return name, nil
}

func (v *initValues) checkProto() error {
	v.Proto = path.Clean(filepath.ToSlash(v.Proto))
	if !filepath.IsLocal(v.Proto) || !plainPath.MatchString(v.Proto) {
		return fmt.Errorf("--proto %s is no directory below the repository", v.Proto)
	}
	return nil
}

// options is the vendored file.
func (v *initValues) options() newFile {
	return newFile{path: path.Join(v.Proto, optionsproto.Path), data: optionsproto.Options, mode: fileMode}
}

// files returns what is to be written.
func (v *initValues) files(dir string) ([]newFile, error) {
	var files []newFile
	names := []string{"buf.yaml", "buf.gen.yaml", "idem.yaml"}
	if !v.NoVendor {
		files = append(files, v.options())
	} else if _, err := os.Stat(filepath.Join(dir, names[0])); err == nil {
		names = names[1:] // it has the module
	}
	for _, name := range names {
		var b bytes.Buffer
		if err := initTemplates.ExecuteTemplate(&b, name+".tmpl", v); err != nil {
			return nil, err
		}
		files = append(files, newFile{path: name, data: b.Bytes(), mode: fileMode})
	}
	return files, nil
}

// nextSteps tells what is left to do.
func (v *initValues) nextSteps() string {
	var b strings.Builder
	step := 0
	next := func(format string, args ...any) {
		step++
		fmt.Fprintf(&b, "  %d. %s\n", step, fmt.Sprintf(format, args...))
	}
	b.WriteString("\nNext:\n")
	if v.NoVendor {
		next(`Have the proto directory of idem as a module in buf.yaml, beside %s`, v.Proto)
	}
	where := v.Proto + "/"
	if v.Proto == "." {
		where = "a .proto file here"
	}
	next(`Annotate a message in %s:
       import "idem/v1/options.proto";
       message PaymentSucceeded {
         option (idem.v1.message) = {idempotency_key: "payments.payment_success:v1:{payment_id}"};
         string payment_id = 1;
       }`, where)
	tools := "buf"
	if v.Java || v.Python {
		tools += " and protoc"
	}
	plugins := "./cmd/idem ./cmd/protoc-gen-idem"
	if v.Go {
		plugins += " google.golang.org/protobuf/cmd/protoc-gen-go"
	}
	next("Install %s; and from a clone of idem:\n       go install %s", tools, plugins)
	next("buf generate")
	if v.Go {
		next(`Go: take the runtime and its core from the clone until you use a release of them:
       go mod edit -replace %[1]s=PATH/TO/idem -replace %[1]s/runtime/go/idem=PATH/TO/idem/runtime/go/idem
       go mod tidy`, "github.com/idem-spec/idem")
	}
	if v.Java {
		next("Java: depend on the protobuf-java of your protoc")
	}
	if v.Python {
		next("Python: pip install xxhash, and the protobuf of your protoc; gen/python is on the path")
	}
	return b.String()
}
