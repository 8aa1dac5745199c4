module github.com/idem-spec/idem

go 1.26.0

tool google.golang.org/protobuf/cmd/protoc-gen-go

require (
	github.com/idem-spec/idem/runtime/go/idem v0.0.0
	github.com/jackc/pgx/v5 v5.13.0
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	golang.org/x/text v0.42.0 // indirect
)

require (
	github.com/bufbuild/protocompile v0.14.1
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/sync v0.24.0 // indirect
)

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.46.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	google.golang.org/protobuf v1.36.12
)

replace github.com/idem-spec/idem/runtime/go/idem => ./runtime/go/idem
