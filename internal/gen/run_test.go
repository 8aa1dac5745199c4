package gen_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen"
)

func TestRunAnswersOnItsOutput(t *testing.T) {
	t.Parallel()
	req := conformanceRequest(t, "lang=go")
	in, err := proto.Marshal(req)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, gen.Run(bytes.NewReader(in), &out))
	got := new(pluginpb.CodeGeneratorResponse)
	require.NoError(t, proto.Unmarshal(out.Bytes(), got))
	require.True(t, proto.Equal(gen.Generate(req), got))
}

// What is no request is no business of the schema's: it is an error of the run.
func TestRunRefusesWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.ErrorContains(t, gen.Run(strings.NewReader("\xff"), &out), "read the request")
	require.Empty(t, out.Bytes())
	require.ErrorContains(t, gen.Run(strings.NewReader(""), broken{}), "broken pipe")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
