# shellcheck shell=bash disable=SC2154 # home and parts are the scripts' that source this
# What takes long shows how far it is: on a terminal by one line that lives, else by a line for each part.

part_number=0
ticker=

# part NAME COMMAND...: runs a part, of `parts` in all, in this shell.
part() {
	local name=$((++part_number))/$parts\ $1
	if [[ -t 2 ]]; then
		tick "$name" 8>&- &
		ticker=$!
	else
		printf '%4d s  %s\n' "$SECONDS" "$name" >&2
	fi
	"${@:2}"
	end_tick
}

# tick NAME: draws the line, until it is ended, or whoever began it is gone.
tick() {
	local begun=$SECONDS
	while kill -0 $$ 2>/dev/null; do
		printf '\r\033[K\033[2m%s: %d s\033[0m' "$1" "$((SECONDS - begun))" >&2
		sleep 1
	done
}

# end_tick leaves the line empty, for what is said next.
end_tick() {
	[[ $ticker ]] || return 0
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	ticker=
	printf '\r\033[K' >&2
}

# logged COMMAND...: what it says is in log/build.log, and shown where it fails.
logged() {
	"$@" >"$home/log/build.log" 2>&1 8>&- && return
	end_tick
	cat "$home/log/build.log" >&2
	die "${1##*/} has failed, as said above (part $part_number of $parts)"
}
