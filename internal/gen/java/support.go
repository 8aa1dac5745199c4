package java

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
	javacore "github.com/idem-spec/idem/runtime/java"
)

// supportClasses are the support classes and what they say.
var supportClasses = func() map[string]string {
	entries, err := javacore.Sources.ReadDir(javacore.Dir)
	if err != nil {
		panic(err) // the program was built without its sources
	}
	all := make(map[string]string, len(entries))
	for _, entry := range entries {
		content, err := javacore.Sources.ReadFile(javacore.Dir + "/" + entry.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(entry.Name(), ".java")] = string(content)
	}
	return all
}()

func isSupportClass(name string) bool {
	_, ok := supportClasses[name]
	return ok
}

// supportFiles are the support sources in a package. (PLUG-003)
func supportFiles(pkg string) []emit.File {
	var files []emit.File
	for class, source := range supportClasses {
		files = append(files, emit.File{Name: fileName(pkg, class), Content: relocated(source, pkg)})
	}
	slices.SortFunc(files, func(a, b emit.File) int { return cmp.Compare(a.Name, b.Name) })
	return files
}

// ownPackage is the package of the support sources where a source names it: in its declaration, its
// imports and its Javadoc.
var ownPackage = regexp.MustCompile(`\b` + regexp.QuoteMeta(javacore.Package) + `\b`)

func relocated(source, pkg string) string {
	return ownPackage.ReplaceAllLiteralString(source, pkg)
}

// keywords are what no part of a package's name may be.
var keywords = func() map[string]bool {
	all := make(map[string]bool)
	for _, word := range strings.Fields(`abstract assert boolean break byte case catch char class const continue default
		do double else enum extends false final finally float for goto if implements import instanceof int interface long
		native new null package private protected public return short static strictfp super switch synchronized this
		throw throws transient true try void volatile while _`) {
		all[word] = true
	}
	return all
}()

// checkSupportPackage refuses a package that Java cannot have.
func (r *run) checkSupportPackage(files []*schema.File) {
	if len(files) == 0 {
		return
	}
	for _, part := range strings.Split(r.support, ".") {
		if keywords[part] {
			r.problem(files[0].Desc, "PLUG-001", "support_package="+r.support+" has "+part+", which is a keyword of Java", "take another name")
		}
	}
}
