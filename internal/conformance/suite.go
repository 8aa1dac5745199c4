package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Suite is the vectors, with the groups in the manifest's order.
type Suite struct {
	// Spec is the version of the specification that the vectors prove.
	Spec   string
	Groups []Group
}

// Group is one file of vectors.
type Group struct {
	Name string
	// Required is whether a port has to answer the group to be conformant.
	Required bool
	Vectors  []*Vector
}

// manifest is the shape of manifest.json.
type manifest struct {
	Spec   string          `json:"spec"`
	Groups []manifestGroup `json:"groups"`
}

type manifestGroup struct {
	Group    string `json:"group"`
	File     string `json:"file"`
	Count    int    `json:"count"`
	SHA256   string `json:"sha256"`
	Required *bool  `json:"required"`
}

// ManifestFile is the name of the manifest.
const ManifestFile = "manifest.json"

// Load reads the manifest and the files it names. A file whose SHA-256 or count is another than the
// manifest's is an error: a verdict over vectors that somebody touched means nothing.
func Load(fsys fs.FS) (*Suite, error) {
	data, err := fs.ReadFile(fsys, ManifestFile)
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the vectors: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", ManifestFile, err)
	}
	if len(m.Groups) == 0 {
		return nil, fmt.Errorf("%s names no group", ManifestFile)
	}
	suite := &Suite{Spec: m.Spec}
	ids := map[string]string{}
	for _, entry := range m.Groups {
		group, err := loadGroup(fsys, entry)
		if err != nil {
			return nil, fmt.Errorf("vectors of group %q: %w", entry.Group, err)
		}
		for _, v := range group.Vectors {
			if other, twice := ids[v.ID]; twice {
				return nil, fmt.Errorf("the id %q is in the groups %q and %q", v.ID, other, group.Name)
			}
			ids[v.ID] = group.Name
		}
		suite.Groups = append(suite.Groups, group)
	}
	return suite, nil
}

func loadGroup(fsys fs.FS, entry manifestGroup) (Group, error) {
	data, err := fs.ReadFile(fsys, entry.File)
	if err != nil {
		return Group{}, err
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != entry.SHA256 {
		return Group{}, fmt.Errorf("%s has the SHA-256 %s, the manifest says %s", entry.File, got, entry.SHA256)
	}
	vectors, err := parseVectors(entry.Group, data)
	if err != nil {
		return Group{}, fmt.Errorf("%s: %w", entry.File, err)
	}
	if len(vectors) != entry.Count || len(vectors) == 0 {
		return Group{}, fmt.Errorf("%s has %d vectors, the manifest says %d", entry.File, len(vectors), entry.Count)
	}
	return Group{Name: entry.Group, Required: entry.Required == nil || *entry.Required, Vectors: vectors}, nil
}

// All returns every vector, group by group.
func (s *Suite) All() []*Vector {
	var all []*Vector
	for _, g := range s.Groups {
		all = append(all, g.Vectors...)
	}
	return all
}

// Names returns the names of the groups.
func (s *Suite) Names() []string {
	names := make([]string, len(s.Groups))
	for i, g := range s.Groups {
		names[i] = g.Name
	}
	return names
}

// Selection says which cases to ask. The zero value selects all.
type Selection struct {
	// Groups are names; a case of any of them is selected.
	Groups []string
	// Cases are globs over ids (path.Match); a case that any of them matches is selected.
	Cases []string
}

// partial reports whether the selection may leave a case out.
func (s Selection) partial() bool { return len(s.Groups)+len(s.Cases) > 0 }

// String returns the selection as the flags that make it.
func (s Selection) String() string {
	var flags []string
	for _, g := range s.Groups {
		flags = append(flags, "--group "+g)
	}
	for _, c := range s.Cases {
		flags = append(flags, "--case "+c)
	}
	return strings.Join(flags, " ")
}

// Select returns the selected cases in the order of the suite. A group that the suite does not have
// and a glob that is none are errors; a glob that matches nothing is left to the verdict.
func (s *Suite) Select(sel Selection) ([]*Vector, error) {
	for _, name := range sel.Groups {
		if !slices.Contains(s.Names(), name) {
			return nil, fmt.Errorf("no group %q: the groups are %s", name, strings.Join(s.Names(), ", "))
		}
	}
	for _, glob := range sel.Cases {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("the glob %q: %w", glob, err)
		}
	}
	var selected []*Vector
	for _, g := range s.Groups {
		if len(sel.Groups) > 0 && !slices.Contains(sel.Groups, g.Name) {
			continue
		}
		for _, v := range g.Vectors {
			if len(sel.Cases) == 0 || slices.ContainsFunc(sel.Cases, v.matches) {
				selected = append(selected, v)
			}
		}
	}
	return selected, nil
}

// matches reports whether a glob, which must be well-formed, matches the vector's id.
func (v *Vector) matches(glob string) bool {
	ok, _ := path.Match(glob, v.ID)
	return ok
}
