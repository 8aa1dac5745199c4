module github.com/idem-spec/idem

go 1.25.0

tool google.golang.org/protobuf/cmd/protoc-gen-go

require github.com/idem-spec/idem/runtime/go/idem v0.0.0

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	google.golang.org/protobuf v1.36.12
)

replace github.com/idem-spec/idem/runtime/go/idem => ./runtime/go/idem
