# shellcheck shell=bash disable=SC2154 # root, home and parts are of scripts/services
# Directories, ports and processes of scripts/services. A process is known by its pid and the time of its
# start, so that a pid that was given to another one meanwhile is left alone.

# dir NODE: its data, log and pid. It has no blank in it where the checkout has none.
dir() { echo "$home/${1/:/-}"; }

# port NODE [LISTENER]: the same one over a stop and a start, as long as it is free.
port() { cat "$home/ports/${1/:/-}${2:+-$2}"; }

# choose_port NODE [LISTENER]: keeps the last one, or takes a free one below those that the kernel gives to
# clients.
choose_port() {
	local file=$home/ports/${1/:/-}${2:+-$2} port
	mkdir -p "$home/ports"
	if [[ -f $file ]] && port_free "$(<"$file")"; then
		return
	fi
	while :; do
		port=$((20000 + RANDOM % 12000))
		if port_free "$port" && ! grep -qsx "$port" "$home"/ports/*; then
			echo "$port" >"$file"
			return
		fi
	done
}

port_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

pid() { sed -n 1p "$(dir "$1")/pid"; }

# birth PID: when it started; nothing where it is gone. Without /proc it is always the same.
birth() {
	if [[ -d /proc/self ]]; then
		# After the name in brackets come the state and, as the 20th, the start.
		sed -n 's/.*) //p' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" && $1 != "X" { print $20 }'
	elif kill -0 "$1" 2>/dev/null; then
		echo there
	fi
}

# born NODE PID: writes down its process.
born() { printf '%s\n%s\n' "$2" "$(birth "$2")" >"$(dir "$1")/pid"; }

alive() {
	local file pid birth
	file=$(dir "$1")/pid
	[[ -f $file ]] || return 1
	{ read -r pid && read -r birth; } <"$file" || return 1
	[[ $birth && $(birth "$pid") == "$birth" ]]
}

# family PID: it and its children, which PostgreSQL puts into sessions of their own.
family() {
	echo "$1"
	cat "/proc/$1/task/$1/children" 2>/dev/null || true
}

# signal NAME NODE: where it runs.
signal() {
	alive "$2" || return 0
	# shellcheck disable=SC2046 # one word a pid
	kill -s "$1" $(family "$(pid "$2")") 2>/dev/null || true
}

# gone NODE [TENTHS]: waits for its end, and ends it by force after a time.
gone() {
	local i
	for ((i = 0; i < ${2-200}; i++)); do
		alive "$1" || break
		sleep 0.1
	done
	signal KILL "$1"
	while alive "$1"; do sleep 0.05; done
	rm -f "$(dir "$1")/pid"
}

# detached LOG COMMAND...: in the background, without our lock and terminal; its pid is in $!. Not for a
# subshell, whose $! nobody sees.
detached() {
	local log=$1
	shift
	if command -v setsid >/dev/null; then
		setsid "$@" >>"$log" 2>&1 </dev/null 9>&- &
	else
		nohup "$@" >>"$log" 2>&1 </dev/null 9>&- &
	fi
}

# until_ready NODE TEST...: waits for TEST, three minutes at most, since the machine may be busy; fails with the log's end where it dies.
until_ready() {
	local node=$1 i
	shift
	for ((i = 0; i < 1800; i++)); do
		if "$@"; then
			return
		elif ! alive "$node"; then
			break
		fi
		sleep 0.1
	done
	say "$node did not start; the end of $(dir "$node")/log:"
	tail -n 20 "$(dir "$node")/log" >&2
	exit 1
}

# unpack ARCHIVE DIRECTORY: a zip, jar, wheel or tar, by Python, since unzip and xz are not everywhere.
unpack() { python3 -c 'import shutil, sys; shutil.unpack_archive(sys.argv[1], sys.argv[2], sys.argv[3])' "$1" "$2" "$3"; }

# mvn_quiet ARGUMENT...: silent where nothing goes wrong; jansi would reset the colours of a file too.
mvn_quiet() { MAVEN_OPTS="${MAVEN_OPTS-} -Djansi.noreset=true" mvn -B -ntp -q -Dstyle.color=never "$@"; }
