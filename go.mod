module github.com/idem-spec/idem

go 1.25.0

tool google.golang.org/protobuf/cmd/protoc-gen-go

require github.com/idem-spec/idem/runtime/go/idem v0.0.0

require (
	github.com/bufbuild/protocompile v0.14.1
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/sync v0.8.0 // indirect
)

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.39.0 // indirect
	golang.org/x/term v0.38.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	google.golang.org/protobuf v1.36.12
)

replace github.com/idem-spec/idem/runtime/go/idem => ./runtime/go/idem
