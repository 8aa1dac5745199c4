# shellcheck shell=bash
# What the scripts share: where the repository's parts are, and how a run of several steps reports.
# Sourced, after `cd` to the root.

# find_files PATTERN: the files of the work tree with that name, whether committed yet or not; those of
# examples/ have a test of their own, scripts/demo.
find_files() {
	find . \( -path ./examples -o -name .git -o -name .tools -o -name target -o -name node_modules -o -name .venv -o -name testdata \) -prune \
		-o -type f -name "$1" -print | sed 's|^\./||' | LC_ALL=C sort
}

# parents FILE: the directory of each file, `.` for the root; those of runtime/ first, since what
# breaks there breaks everywhere.
parents() {
	find_files "$1" | sed 's|^[^/]*$|./&|; s|/[^/]*$||' | awk '/^runtime\// { print; next } { rest[++n] = $0 } END { for (i = 1; i <= n; i++) print rest[i] }'
}

# go_modules: every module that has packages. `./...` stops at a nested go.mod, so a loop it is.
go_modules() {
	local dir
	for dir in $(parents go.mod); do
		if [[ $(cd "$dir" && go list ./... 2>&1) != *"matched no packages"* ]]; then
			echo "$dir"
		fi
	done
}

# java_projects: every pom.xml that no other one stands above.
java_projects() {
	local dir above
	for dir in $(parents pom.xml); do
		above=${dir%/*}
		while [[ $above == */* && ! -f $above/pom.xml ]]; do above=${above%/*}; done
		[[ -f $above/pom.xml && $above != "$dir" ]] || echo "$dir"
	done
}

# python_projects TOOL: every pyproject.toml that configures the tool.
python_projects() {
	local dir
	for dir in $(parents pyproject.toml); do
		if grep -q "^\[tool\.$1[].]" "$dir/pyproject.toml"; then
			echo "$dir"
		fi
	done
}

# in_dir DIR COMMAND...
in_dir() {
	(cd "$1" && "${@:2}")
}

failed=()

# step NAME COMMAND...: runs it, and goes on when it fails, so that one run shows everything.
step() {
	local name=$1
	shift
	printf '\n== %s\n' "$name"
	"$@" || failed+=("$name")
}

# finish: fails if a step did, and says which. Silent otherwise: the last step has the last word.
finish() {
	((${#failed[@]})) || return 0
	printf '\nfailed:\n' >&2
	printf '  %s\n' "${failed[@]}" >&2
	exit 1
}
