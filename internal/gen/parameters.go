package gen

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// parameters are the plugin's parameters, checked.
type parameters struct {
	langs          map[string]bool
	support        bool
	supportPackage string
	// protogen is those that protogen reads, as they were given.
	protogen []string
	// goImports is the Go import path that an M parameter gives a file.
	goImports map[string]string
}

// parameter is one that the plugin knows.
type parameter struct {
	name string
	// langs are the languages that it is about; it is refused where lang has none of them.
	langs []string
	// prefix says that a file's path follows the name.
	prefix bool
	set    func(p *parameters, key, value string) error
}

// known is the table of parameters, in the order in which errors list them. The parameters of Go are
// those of protoc-gen-go that change the names in its output, which this plugin's output has to fit.
var known = []parameter{
	{name: "lang", set: setLang},
	{name: "paths", langs: []string{"go"}, set: oneOf("import", "source_relative")},
	{name: "module", langs: []string{"go"}, set: nonEmpty},
	{name: "default_api_level", langs: []string{"go"}, set: oneOf("API_OPEN", "API_HYBRID", "API_OPAQUE")},
	{name: "M", langs: []string{"go"}, prefix: true, set: setGoImport},
	{name: "apilevelM", langs: []string{"go"}, prefix: true, set: oneOf("API_OPEN", "API_HYBRID", "API_OPAQUE")},
	{name: "support", langs: []string{"java", "python"}, set: setSupport},
	{name: "support_package", langs: []string{"java", "python"}, set: setSupportPackage},
}

// parseParameters reads "lang=go+java,paths=source_relative". (PLUG-001)
func parseParameters(text string) (*parameters, error) {
	p := &parameters{langs: make(map[string]bool), support: true, goImports: make(map[string]string)}
	given := make(map[string]string)
	for _, pair := range strings.Split(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		found := find(key)
		if found == nil {
			return nil, fmt.Errorf("unknown parameter %q: there are %s", key, knownNames())
		}
		if before, twice := given[key]; twice && before != value {
			return nil, fmt.Errorf("parameter %s is given twice, as %q and as %q: leave one", key, before, value)
		}
		given[key] = value
		if err := found.set(p, key, value); err != nil {
			return nil, err
		}
		if slices.Contains(found.langs, "go") {
			p.protogen = append(p.protogen, pair)
		}
	}
	if len(p.langs) == 0 {
		return nil, fmt.Errorf("parameter lang is missing: give lang=%s, or several joined by +", strings.Join(languageNames(), " or lang="))
	}
	if given["paths"] == "source_relative" && given["module"] != "" {
		return nil, fmt.Errorf("paths=source_relative and module= exclude each other: leave one")
	}
	return p, p.checkLangs(given)
}

// checkLangs refuses a parameter that would change nothing.
func (p *parameters) checkLangs(given map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		langs := find(key).langs
		if len(langs) > 0 && !slices.ContainsFunc(langs, func(lang string) bool { return p.langs[lang] }) {
			return fmt.Errorf("parameter %s is for %s, which lang does not have: leave it out", key, strings.Join(langs, " and "))
		}
	}
	return nil
}

func find(key string) *parameter {
	for i := range known {
		k := &known[i]
		if key == k.name && !k.prefix || k.prefix && strings.HasPrefix(key, k.name) && strings.HasSuffix(key, ".proto") {
			return k
		}
	}
	return nil
}

func knownNames() string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
		if k.prefix {
			names[i] += "FILE.proto"
		}
	}
	return strings.Join(names, ", ")
}

func languageNames() []string {
	names := make([]string, len(languages))
	for i, lang := range languages {
		names[i] = lang.name
	}
	return names
}

func setLang(p *parameters, _, value string) error {
	names := languageNames()
	for _, lang := range strings.Split(value, "+") {
		if !slices.Contains(names, lang) {
			return badValue("lang", lang, append(names, "several of them joined by +")...)
		}
		p.langs[lang] = true
	}
	return nil
}

func setGoImport(p *parameters, key, value string) error {
	path, _, _ := strings.Cut(value, ";")
	p.goImports[strings.TrimPrefix(key, "M")] = path
	return nil
}

func setSupport(p *parameters, key, value string) error {
	p.support = value == "emit"
	return oneOf("emit", "none")(p, key, value)
}

// packageName is a dotted name that Java and Python both accept, keywords apart.
var packageName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

func setSupportPackage(p *parameters, key, value string) error {
	if len(value) > 200 || !packageName.MatchString(value) {
		return badValue(key, value, "a package's name, com.acme.idem")
	}
	p.supportPackage = value
	return nil
}

func nonEmpty(_ *parameters, key, value string) error {
	if value == "" {
		return badValue(key, value, "a text")
	}
	return nil
}

func oneOf(values ...string) func(*parameters, string, string) error {
	return func(_ *parameters, key, value string) error {
		if !slices.Contains(values, value) {
			return badValue(key, value, values...)
		}
		return nil
	}
}

func badValue(key, value string, values ...string) error {
	return fmt.Errorf("parameter %s has the unknown value %q: it takes %s", key, value, strings.Join(values, " or "))
}
