package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTree is the most bytes of .proto files that are read of a commit.
const maxTree = 1 << 30

// git runs git in the repository, and returns what it prints. A hook's environment names the repository
// that it runs in, which need not be this one.
func (g gitRef) git(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%s is a git ref, and there is no git: install it, or name a directory or an image", g.ref)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = g.repository
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	command.Env = append(command.Env, "LC_ALL=C") // what it says is read
	command.Stdin = in
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.New(orElse(strings.TrimSpace(errs.String()), err.Error()))
	}
	return out.Bytes(), nil
}

// commit is the hash of the ref's commit.
func (g gitRef) commit(ctx context.Context) (string, error) {
	if strings.HasPrefix(g.ref, "-") {
		return "", fmt.Errorf("%q is no ref", g.ref)
	}
	if _, err := g.git(ctx, nil, "rev-parse", "--git-dir"); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if strings.Contains(err.Error(), "not a git repository") {
			return "", fmt.Errorf("%s is no file or directory, and %s is in no git repository: name a directory or an image with the schema before, or commit it (git init, git commit) and name the commit", g.ref, g.repository)
		}
		return "", fmt.Errorf("%s is no file or directory, and of %s git says: %w", g.ref, g.repository, err)
	}
	hash, err := g.git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", g.ref+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s is no file or directory, and no commit of the git repository of %s: fetch it first (`git fetch origin %s`; what CI checks out often has one commit alone)",
			g.ref, g.repository, g.ref)
	}
	return string(bytes.TrimSpace(hash)), nil
}

// read reads the schema as it was, from a temporary directory that has what the commit has of it.
func (g gitRef) read(ctx context.Context) (*Files, time.Time, error) {
	commit, err := g.commit(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	// What git show prints depends on how somebody has configured it; this does not.
	committed, err := g.git(ctx, nil, "rev-list", "--timestamp", "--max-count=1", commit)
	if err != nil {
		return nil, time.Time{}, err
	}
	timestamp, _, _ := strings.Cut(string(committed), " ")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("git tells no time of %s", g.ref)
	}
	dir, err := os.MkdirTemp("", "idem-against-")
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the schema at %s: %w", g.ref, err)
	}
	defer os.RemoveAll(dir)
	if err := g.extract(ctx, commit, dir); err != nil {
		return nil, time.Time{}, fmt.Errorf("read the schema at %s: %w", g.ref, err)
	}
	files, err := readExtracted(ctx, dir, g.subdir)
	if err != nil {
		if ctx.Err() != nil {
			return nil, time.Time{}, ctx.Err()
		}
		return nil, time.Time{}, fmt.Errorf("at %s: %s", g.ref, strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return files, time.Unix(seconds, 0), nil
}

func readExtracted(ctx context.Context, dir, subdir string) (*Files, error) {
	subdir = strings.TrimPrefix(path.Join("/", subdir), "/")
	schema := filepath.Join(dir, filepath.FromSlash(subdir))
	nothing := fmt.Errorf("%w in %s", errNoProto, orElse(subdir, "the repository"))
	if _, err := os.Stat(schema); err != nil {
		return nil, nothing
	}
	files, err := ReadBare(ctx, schema)
	if errors.Is(err, errNoProto) {
		return nil, nothing
	}
	if err == nil {
		files.roots = nil // they are about to go
	}
	return files, err
}

// blob is a file of a commit.
type blob struct{ hash, path string }

// extract writes the .proto files of a commit, and those of buf that say where imports start from, below
// a directory. It asks for blobs, so that no filter or attribute of the repository has a say.
func (g gitRef) extract(ctx context.Context, commit, dir string) error {
	list, err := g.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	blobs := blobsOf(list)
	var hashes bytes.Buffer
	for _, b := range blobs {
		hashes.WriteString(b.hash + "\n")
	}
	contents, err := g.git(ctx, &hashes, "cat-file", "--batch")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// What is above the repository is none of the schema's.
	if err := root.Mkdir(".git", 0o700); err != nil {
		return err
	}
	return writeBlobs(root, blobs, bufio.NewReader(bytes.NewReader(contents)))
}

// blobsOf reads the output of ls-tree -z: "MODE TYPE HASH\tPATH". Links and submodules are left out.
func blobsOf(list []byte) []blob {
	var blobs []blob
	for entry := range bytes.SplitSeq(list, []byte{0}) {
		about, name, _ := strings.Cut(string(entry), "\t")
		fields := strings.Fields(about)
		wanted := strings.HasSuffix(name, ".proto") ||
			slices.Contains([]string{"buf.yaml", "buf.work.yaml", "buf.lock"}, path.Base(name))
		if wanted && len(fields) == 3 && strings.HasPrefix(fields[0], "100") && filepath.IsLocal(filepath.FromSlash(name)) {
			blobs = append(blobs, blob{fields[2], name})
		}
	}
	return blobs
}

// writeBlobs reads the output of cat-file --batch: "HASH blob SIZE\n", the content, and "\n".
func writeBlobs(root *os.Root, blobs []blob, contents *bufio.Reader) error {
	left := int64(maxTree)
	for _, b := range blobs {
		header, err := contents.ReadString('\n')
		fields := strings.Fields(header)
		if err != nil || len(fields) != 3 {
			return fmt.Errorf("git has no %s: %s", b.path, strings.TrimSpace(header))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if left -= size; err != nil || size < 0 || left < 0 {
			return fmt.Errorf("the .proto files have more than %d bytes", int64(maxTree))
		}
		data := make([]byte, size+1) // and the line's end
		if _, err := io.ReadFull(contents, data); err != nil {
			return fmt.Errorf("git has no %s: %w", b.path, err)
		}
		name := filepath.FromSlash(b.path)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, data[:size], 0o600); err != nil {
			return err
		}
	}
	return nil
}
