package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// buf has buf compile what is below a directory of the workspace. ok is false where there is no buf.
func (w *workspace) buf(ctx context.Context, dir string) (files *Files, ok bool, err error) {
	program, err := exec.LookPath("buf")
	if err != nil {
		return nil, false, nil
	}
	args := []string{"build", w.dir, "-o", "-"}
	switch {
	case w.isModule(dir): // buf finds the workspace above it
		args[1] = dir
	case !same(dir, w.dir):
		args = append(args, "--path", dir)
	}
	command := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, true, ctx.Err()
		}
		return nil, true, bufError(args, errs.String(), err)
	}
	if files, err = ReadImage(&out, "what buf built"); err != nil {
		return nil, true, err
	}
	files.roots = w.roots()
	files.Note = "compiled by `buf " + strings.Join(args, " ") + "`"
	return files, true, nil
}

func (w *workspace) isModule(dir string) bool {
	return slices.ContainsFunc(w.modules, func(m module) bool { return same(m.root, dir) })
}

func same(a, b string) bool { return contains(a, b) && contains(b, a) }

func bufError(args []string, said string, err error) error {
	if said = strings.TrimSpace(said); said == "" {
		said = err.Error()
	}
	return fmt.Errorf("idem's own compiler does not know all that is imported, and `buf %s` says:\n%w", strings.Join(args, " "), errors.New(said))
}
