# shellcheck shell=bash disable=SC2154 # root and home are scripts/shop's
# What the shop is built of, into .tools/shop/bin and where Maven and buf put theirs: five parts.

build() {
	part "the pinned tools, into .tools" logged scripts/tools --java
	export PATH=$root/.tools/bin:$PATH
	part "the helpers of the shop's schema, in three languages" logged scripts/demo --generate
	part "idem (Go)" logged go build -o "$home/bin/" ./cmd/idem
	part "payments and the world around the shop (Go)" logged go -C examples/shop/go build -o "$home/bin/" ./cmd/...
	export MAVEN_OPTS="${MAVEN_OPTS-} -Djansi.noreset=true"
	part "orders (Java)" logged mvn -B -ntp -q -Dstyle.color=never -f examples/shop/pom.xml -pl java -am process-classes
}
