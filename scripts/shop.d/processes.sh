# shellcheck shell=bash disable=SC2154 # root and home are scripts/shop's
# The shop's processes: started, awaited, and stopped in reverse.

pids=()

# run NAME COMMAND...: in the background; what it says is in log/NAME.out, its log in log/NAME.log.
run() {
	: >"$home/log/$1.out" # or nobody can look into it yet
	SHOP_INSTANCE=$1 "${@:2}" >"$home/log/$1.out" 2>"$home/log/$1.log" 8>&- &
	pids+=($!)
}

# said NAME PATTERN: waits until the process that was started last has said so, and prints the line.
said() {
	local i
	for ((i = 0; i < 600; i++)); do
		grep -m 1 -- "$2" "$home/log/$1.out" && return
		kill -0 "${pids[-1]}" 2>/dev/null || break
		sleep 0.1
	done
	end_tick
	tail -n 20 "$home/log/$1.log" >&2
	die "$1 has not said: $2; its log is $home/log/$1.log"
}

# url NAME: the address that a process prints.
url() {
	local line
	line=$(said "$1" "^$1: listening on ")
	echo "${line##* }"
}

start_all() {
	local s dsn
	run outside "$home/bin/outside"
	OUTSIDE_URL=$(url outside)
	export OUTSIDE_URL BANK_URL=$OUTSIDE_URL/bank MAIL_URL=$OUTSIDE_URL/mail
	run gateway env PYTHONPATH="$root/examples/shop/python/gen:$root/runtime/python/src" python "$root/examples/shop/python/gateway.py"
	GATEWAY_URL=$(url gateway)
	run payments "$home/bin/payments"
	said payments '^payments: ready$' >/dev/null
	run notifications env PYTHONPATH="$root/examples/shop/python/gen:$root/runtime/python/src" python "$root/examples/shop/python/notifications.py"
	said notifications '^notifications: ready$' >/dev/null
	run orders java -Xmx512m -cp "$root/examples/shop/java/target/classes:$(<"$root/examples/shop/java/target/classpath")" io.github.idemspec.shop.Orders
	ORDERS_URL=$(url orders)
	said orders '^orders: ready$' >/dev/null
	export GATEWAY_URL ORDERS_URL
	for s in "${services[@]}"; do
		dsn=${s^^}_DATABASE_URL
		run "worker-$s" "$home/bin/idem" worker --dsn "${!dsn}" --brokers "$KAFKA_BROKERS"
	done
	write_env
}

# write_env: to work on the shop by hand, `. .tools/shop/env`.
write_env() {
	local name
	for name in KAFKA_BROKERS REDIS_URL DATABASE_URL ORDERS_DATABASE_URL PAYMENTS_DATABASE_URL NOTIFICATIONS_DATABASE_URL ORDERS_URL \
		OUTSIDE_URL BANK_URL MAIL_URL GATEWAY_URL; do
		printf 'export %s=%q\n' "$name" "${!name}"
	done >"$home/env"
	printf 'export IDEM_CONFIG=%q IDEM_CONTEXT=shop\nexport PATH=%q:"%s"\n' "$home/contexts.yaml" "$home/bin" "\$PATH" >>"$home/env"
}

alive_all() {
	local pid
	for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return; done
}

# stop_all: in reverse, so that what others need goes last; each has half a minute to drain.
stop_all() {
	local i j
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill "${pids[i]}" 2>/dev/null || true; done
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		for ((j = 0; j < 300; j++)); do
			kill -0 "${pids[i]}" 2>/dev/null || break
			sleep 0.1
		done
		if kill -9 "${pids[i]}" 2>/dev/null; then say "process ${pids[i]} had to be killed"; fi
		wait "${pids[i]}" 2>/dev/null || true
	done
	pids=()
}
