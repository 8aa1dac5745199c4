module github.com/idem-spec/idem/bench/lint

go 1.26.0

replace github.com/idem-spec/idem => ../..

replace github.com/idem-spec/idem/runtime/go/idem => ../../runtime/go/idem

replace github.com/idem-spec/idem/bench/go => ../go

require (
	github.com/idem-spec/idem v0.0.0-00010101000000-000000000000
	github.com/idem-spec/idem/bench/go v0.0.0-00010101000000-000000000000
	github.com/idem-spec/idem/runtime/go/idem v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/bufbuild/protocompile v0.14.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/pierrec/lz4/v4 v4.1.15 // indirect
	github.com/segmentio/kafka-go v0.4.51 // indirect
	github.com/xdg-go/pbkdf2 v1.0.0 // indirect
	github.com/xdg-go/scram v1.1.2 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto v0.0.0-20250303144028-a0af3efb3deb // indirect
)
