package gen_test

import (
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/gentest"
)

// conformanceRequest asks for all conformance messages, and for idem/v1/options.proto.
func conformanceRequest(tb testing.TB, parameter string) *pluginpb.CodeGeneratorRequest {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(gentest.Root(tb), "conformance-vectors", "descriptors.binpb"))
	require.NoError(tb, err)
	set := new(descriptorpb.FileDescriptorSet)
	require.NoError(tb, proto.Unmarshal(b, set))
	req := &pluginpb.CodeGeneratorRequest{Parameter: proto.String(parameter), ProtoFile: set.GetFile()}
	for _, f := range set.GetFile() {
		if strings.HasPrefix(f.GetName(), "idem/") {
			req.FileToGenerate = append(req.FileToGenerate, f.GetName())
		}
	}
	return req
}

// parameterSets are one language after the other, and all of them.
var parameterSets = []string{"lang=go", "lang=java", "lang=python", "lang=python+java+go,support=emit"}

func contents(t *testing.T, req *pluginpb.CodeGeneratorRequest) map[string]string {
	t.Helper()
	resp := gen.Generate(req)
	require.Empty(t, resp.GetError())
	files := make(map[string]string)
	for _, f := range resp.GetFile() {
		require.NotContains(t, files, f.GetName())
		files[f.GetName()] = f.GetContent()
	}
	return files
}

// PLUG-002: the order of files, of either list, does not show.
func TestOrderOfFilesDoesNotShow(t *testing.T) {
	t.Parallel()
	for _, parameter := range parameterSets {
		req := conformanceRequest(t, parameter)
		want, err := proto.Marshal(gen.Generate(req))
		require.NoError(t, err)
		for seed := int64(1); seed <= 5; seed++ {
			r := rand.New(rand.NewSource(seed))
			r.Shuffle(len(req.FileToGenerate), func(i, j int) {
				req.FileToGenerate[i], req.FileToGenerate[j] = req.FileToGenerate[j], req.FileToGenerate[i]
			})
			r.Shuffle(len(req.ProtoFile), func(i, j int) {
				req.ProtoFile[i], req.ProtoFile[j] = req.ProtoFile[j], req.ProtoFile[i]
			})
			got, err := proto.Marshal(gen.Generate(req))
			require.NoError(t, err)
			require.Equal(t, want, got, "%s, seed %d", parameter, seed)
		}
	}
}

// PLUG-002: one run a file emits what one run for all does.
func TestOneRunForEachFile(t *testing.T) {
	t.Parallel()
	for _, parameter := range parameterSets {
		req := conformanceRequest(t, parameter)
		want := contents(t, req)
		got := make(map[string]string)
		for _, name := range req.GetFileToGenerate() {
			one := &pluginpb.CodeGeneratorRequest{Parameter: req.Parameter, ProtoFile: req.ProtoFile, FileToGenerate: []string{name}}
			for path, content := range contents(t, one) {
				require.NotContains(t, got, path, "emitted by two runs")
				got[path] = content
			}
		}
		require.Equal(t, want, got, parameter)
	}
}

// PLUG-004: a language emits the same beside others as alone.
func TestLanguagesDoNotShowInEachOther(t *testing.T) {
	t.Parallel()
	all := contents(t, conformanceRequest(t, "lang=go+java+python,module=github.com/idem-spec/idem/golden/go"))
	sum := 0
	for _, parameter := range []string{"lang=go,module=github.com/idem-spec/idem/golden/go", "lang=java", "lang=python"} {
		for path, content := range contents(t, conformanceRequest(t, parameter)) {
			require.Equal(t, content, all[path], path)
			sum++
		}
	}
	require.Len(t, all, sum)
}

// PLUG-004: Java and Python do without go_package.
func TestGoPackageIsForGo(t *testing.T) {
	t.Parallel()
	want := contents(t, conformanceRequest(t, "lang=java+python"))
	req := conformanceRequest(t, "lang=java+python")
	for _, f := range req.GetProtoFile() {
		f.GetOptions().GoPackage = nil
	}
	require.Equal(t, want, contents(t, req))

	req.Parameter = proto.String("lang=java+go")
	resp := gen.Generate(req)
	require.Contains(t, resp.GetError(), "idem/conformance/v1/a-b.proto:1:1: it has no go_package, and lang=go needs one")
	require.Contains(t, resp.GetError(), "idem/v1/options.proto:1:1: its go_package is \"\" and has to be")
	require.Contains(t, resp.GetError(), "\nmanaged:\n  enabled: true\n  disable:\n    - path: idem/v1\n")
}

// What buf's managed mode makes of idem/v1 would register the options twice.
func TestManagedModeKeepsOffTheOptions(t *testing.T) {
	t.Parallel()
	req := conformanceRequest(t, "lang=go")
	for _, f := range req.GetProtoFile() {
		if f.GetName() == "idem/v1/options.proto" {
			f.GetOptions().GoPackage = proto.String("example.com/gen/idem/v1;idemv1")
		}
	}
	resp := gen.Generate(req)
	require.Contains(t, resp.GetError(), `idem/v1/options.proto:1:1: its go_package is "example.com/gen/idem/v1" and has to be "github.com/idem-spec/idem/runtime/go/idem/idempb": keep buf's managed mode away from it`)
	require.Contains(t, resp.GetError(), "- path: idem/v1")

	req.Parameter = proto.String("lang=go,Midem/v1/options.proto=github.com/idem-spec/idem/runtime/go/idem/idempb")
	require.Empty(t, gen.Generate(req).GetError(), "an M parameter wins")
}

func TestResponseSaysWhatItReads(t *testing.T) {
	t.Parallel()
	for _, req := range []*pluginpb.CodeGeneratorRequest{conformanceRequest(t, "lang=go"), {}} {
		resp := gen.Generate(req)
		require.EqualValues(t, 3, resp.GetSupportedFeatures())
		require.EqualValues(t, descriptorpb.Edition_EDITION_PROTO2, resp.GetMinimumEdition())
		require.EqualValues(t, descriptorpb.Edition_EDITION_2024, resp.GetMaximumEdition())
	}
}

// OPT-031: a machine in a file that is given and not imported is found, whichever the language.
func TestMachineInAFileThatIsNotImported(t *testing.T) {
	t.Parallel()
	sources := gentest.Sources{
		"t.proto": `syntax = "proto3"; package t.v1; import "idem/v1/options.proto"; option go_package = "example.com/t/v1";
			message M { option (idem.v1.message) = {idempotency_key: "t.m:{id}" transition: {state_machine: "u.v1.S" from: "" to: "A"}}; string id = 1; }`,
		"u.proto": `syntax = "proto3"; package u.v1; import "idem/v1/options.proto"; option go_package = "example.com/u/v1";
			enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; S_UNSPECIFIED = 0; S_A = 1; }`,
	}
	for _, parameter := range parameterSets {
		both := contents(t, gentest.Request(t, parameter, sources))
		req := gentest.Request(t, parameter, sources)
		req.FileToGenerate = []string{"t.proto"}
		for path, content := range contents(t, req) {
			require.Equal(t, both[path], content)
		}
		req.ProtoFile = slices.DeleteFunc(req.ProtoFile, func(f *descriptorpb.FileDescriptorProto) bool { return f.GetName() == "u.proto" })
		require.Contains(t, gen.Generate(req).GetError(), `names the state machine "u.v1.S", which is no enum of these files`)
	}
}
