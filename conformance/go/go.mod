module github.com/idem-spec/idem/conformance/go

go 1.25.0

require (
	github.com/idem-spec/idem/golden v0.0.0
	github.com/idem-spec/idem/runtime/go/idem v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	google.golang.org/genproto v0.0.0-20250303144028-a0af3efb3deb // indirect
)

replace (
	github.com/idem-spec/idem/golden => ../../golden
	github.com/idem-spec/idem/runtime/go/idem => ../../runtime/go/idem
)
