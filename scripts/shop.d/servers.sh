# shellcheck shell=bash disable=SC2154 # home is scripts/shop's
# The servers, the databases with their tables, the topics, and a context for the command line.

services=(orders payments notifications)

# database NAME: the URL of a database on the server of DATABASE_URL.
database() {
	[[ $DATABASE_URL =~ ^(postgres(ql)?://[^/]+)(/[^?]*)?(.*)$ ]] || die "DATABASE_URL: give it as postgres://user@host:port/database"
	echo "${BASH_REMATCH[1]}/$1${BASH_REMATCH[4]}"
}

servers() {
	eval "$(scripts/services env postgres redis kafka)"
	local s url
	for s in "${services[@]}"; do
		url=$(database "shop_$s")
		printf -v "${s^^}_DATABASE_URL" %s "$url"
		export "${s?}" "${s^^}_DATABASE_URL"
		make_database "shop_$s"
		logged "$home/bin/idem" migrate up --dsn "$url"
		"$home/bin/idem" migrate validate --dsn "$url" >>"$home/log/servers.log" 2>&1 ||
			die "the database shop_$s has tables of an earlier work tree, see $home/log/servers.log: DROP DATABASE shop_$s"
	done
	make_topics
	write_context
}

# make_database NAME: Python has psycopg for notifications; psql may be missing.
make_database() {
	logged python - "$DATABASE_URL" "$1" <<-'P'
		import sys
		import psycopg
		with psycopg.connect(sys.argv[1], autocommit=True) as server:
		    if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (sys.argv[2],)).fetchone():
		        server.execute(f'CREATE DATABASE "{sys.argv[2]}"')
	P
}

make_topics() {
	local create=(logged "$home/bin/idem" topic create --partitions 4 --brokers "$KAFKA_BROKERS")
	"${create[@]}" shop.orders --group payments
	"${create[@]}" shop.payments --group orders --group notifications
	"${create[@]}" shop.refunds --group orders --group payments --group notifications
	"${create[@]}" shop.notifications
}

# write_context: `idem … --context shop`, with IDEM_CONFIG.
write_context() {
	local s
	(
		umask 077
		{
			printf 'contexts:\n  shop:\n    write: true\n    brokers: [%s]\n    redis: %s\n    stores:\n' "$KAFKA_BROKERS" "$REDIS_URL"
			for s in "${services[@]}"; do printf '      %s: %s\n' "$s" "$(database "shop_$s")"; done
		} >"$home/contexts.yaml"
	)
}

shop_idem() { IDEM_CONFIG=$home/contexts.yaml "$home/bin/idem" "$@"; }
