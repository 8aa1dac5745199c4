package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint/config"
)

func TestGeneratesTheLanguagesThatAreDeclaredAndAllWhereNoneIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, facts string
		want        []string
	}{
		{"nothing is declared", "facts: {}", []string{"go", "java", "python"}},
		{"one", "facts:\n  languages: [java]", []string{"java"}},
		{"two, one a line", "facts:\n  languages:\n    - python\n    - go", []string{"go", "python"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Parse("idem.yaml", []byte("version: v1\n"+test.facts), nil)
			require.NoError(t, err)
			var generated []string
			for _, language := range []string{"go", "java", "python"} {
				if c.Facts.Generates(language) {
					generated = append(generated, language)
				}
			}
			require.Equal(t, test.want, generated)
		})
	}
}

func TestLanguageThatIsNotGeneratedIsRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("idem.yaml", []byte("version: v1\nfacts:\n  languages: [go, rust]"), nil)
	require.EqualError(t, err, `idem.yaml:3:19: "rust" is no language that code is generated in: there are go, java, python`)
}
