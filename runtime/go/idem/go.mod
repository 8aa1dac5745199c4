module github.com/idem-spec/idem/runtime/go/idem

go 1.23

require (
	github.com/cespare/xxhash/v2 v2.3.0
	google.golang.org/protobuf v1.36.12
)
