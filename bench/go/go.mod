module github.com/idem-spec/idem/bench/go

go 1.25.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/idem-spec/idem/runtime/go/idem v0.0.0
	// A peer: the hash of a struct that Go programs take where they have no key.
	github.com/mitchellh/hashstructure/v2 v2.0.2
	google.golang.org/genproto v0.0.0-20250303144028-a0af3efb3deb
	google.golang.org/protobuf v1.36.12
)

replace github.com/idem-spec/idem/runtime/go/idem => ../../runtime/go/idem
