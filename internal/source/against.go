package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Against reads the schema that another one is compared with. ref is one of
//
//	a directory or an image, as for Read
//	a git ref, of the repository that input is in: main, v1.4.0, HEAD~1; the directory is input's
//	a repository, a ref and a directory, as buf writes them: .git#ref=main,subdir=proto
//	a module or another input of buf's, where there is buf: buf.build/acme/shop:v1
//
// Of a git ref committed is the time of its commit; otherwise it is zero. The work tree is never touched.
// Where there were sources, the files have no positions: findings are placed in the schema that is there.
func Against(ctx context.Context, ref, input string) (files *Files, committed time.Time, err error) {
	if _, err := os.Stat(ref); err == nil {
		files, err = ReadBare(ctx, ref)
		return files, time.Time{}, err
	}
	at, isGit, err := parseGitRef(ref)
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case isGit:
		return at.read(ctx)
	case isPath(ref):
		return nil, time.Time{}, fmt.Errorf("%s is not there", ref)
	}
	if at, err = shortGitRef(ctx, ref, input); err == nil {
		return at.read(ctx)
	}
	if ofBuf.MatchString(ref) {
		files, err = byBuf(ctx, ref)
	}
	return files, time.Time{}, err
}

// isPath says whether nobody would write a ref or a module like that.
func isPath(ref string) bool {
	return filepath.IsAbs(ref) || strings.HasPrefix(ref, ".") || slices.Contains([]string{".binpb", ".bin", ".pb", ".proto"}, filepath.Ext(ref))
}

// ofBuf is what buf reads and nothing else does: REGISTRY/OWNER/MODULE, or a URL.
var ofBuf = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+/[^/:]+/[^/:]+(:[^/]+)?|[a-z]+://.*)$`)

// byBuf has buf read what only it can.
func byBuf(ctx context.Context, ref string) (*Files, error) {
	program, err := exec.LookPath("buf")
	if err != nil {
		return nil, fmt.Errorf("%s is a module or a URL, which buf reads, and there is no buf: install it, or write an image with `buf build %s -o image.binpb` and name that", ref, ref)
	}
	command := exec.CommandContext(ctx, program, "build", ref, "-o", "-")
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("`buf build %s` says:\n%w", ref, errors.New(orElse(strings.TrimSpace(errs.String()), err.Error())))
	}
	return ReadImage(&out, ref)
}

func orElse(said, otherwise string) string {
	if said == "" {
		return otherwise
	}
	return said
}

// gitRef is a directory of a repository as it was at a commit.
type gitRef struct {
	// repository is its work tree, a directory of it, or a bare one.
	repository string
	ref        string
	// subdir is below the root of the repository, with slashes; "" for the root.
	subdir string
}

// parseGitRef reads REPOSITORY#ref=…,subdir=…; false where ref is not written like that, or is for buf.
func parseGitRef(text string) (at gitRef, ok bool, err error) {
	repository, options, found := strings.Cut(text, "#")
	if _, err := os.Stat(repository); !found || err != nil {
		return gitRef{}, false, nil
	}
	at = gitRef{repository: repository}
	if filepath.Base(repository) == ".git" {
		at.repository = filepath.Dir(repository) // of a worktree .git is a file
	}
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "ref", "branch", "tag", "commit":
			at.ref = value
		case "subdir":
			at.subdir = value
		default:
			return gitRef{}, false, fmt.Errorf("%s: after # there is ref=REF (or branch, tag, commit) and subdir=DIRECTORY, joined by a comma, not %q", text, option)
		}
	}
	if at.ref == "" {
		return gitRef{}, false, fmt.Errorf("%s names no ref: write %s#ref=main", text, repository)
	}
	return at, true, nil
}

// shortGitRef is a ref of the repository that input is in, and input's directory.
func shortGitRef(ctx context.Context, ref, input string) (gitRef, error) {
	if info, err := os.Stat(input); err != nil || !info.IsDir() {
		return gitRef{}, fmt.Errorf("%s is no file or directory; of a git ref the directory is not known where the schema is %s: write .git#ref=%s,subdir=DIRECTORY",
			ref, input, ref)
	}
	at := gitRef{repository: input, ref: ref}
	if _, err := at.commit(ctx); err != nil {
		return gitRef{}, err
	}
	root, err := at.git(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return gitRef{}, err
	}
	at.subdir, err = below(strings.TrimSuffix(string(root), "\n"), input)
	return at, err
}

// below is the path of a directory in another one, with slashes, whatever links lead there.
func below(root, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", fmt.Errorf("read the schema: %w", err)
	}
	relative, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(relative) {
		return "", fmt.Errorf("%s is not in the repository %s", dir, root)
	}
	return filepath.ToSlash(relative), nil
}
