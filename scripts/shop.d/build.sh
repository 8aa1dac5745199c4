# shellcheck shell=bash disable=SC2154 # root and home are scripts/shop's
# What the shop is built of, into .tools/shop/bin and where Maven and buf put theirs.

build() {
	say "generating the shop's helpers, and compiling orders (Java), payments (Go) and idem"
	scripts/demo --generate 2>"$home/log/build.log" || build_failed
	export PATH=$root/.tools/bin:$PATH
	go build -o "$home/bin/" ./cmd/idem 2>>"$home/log/build.log" || build_failed
	(cd examples/shop/go && go build -o "$home/bin/" ./cmd/...) 2>>"$home/log/build.log" || build_failed
	MAVEN_OPTS="${MAVEN_OPTS-} -Djansi.noreset=true" \
		mvn -B -ntp -q -Dstyle.color=never -f examples/shop/pom.xml -pl java -am process-classes >>"$home/log/build.log" 2>&1 || build_failed
}

build_failed() {
	cat "$home/log/build.log" >&2
	die "the shop was not built"
}
