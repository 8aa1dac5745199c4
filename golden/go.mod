module github.com/idem-spec/idem/golden

go 1.25.0

require (
	github.com/idem-spec/idem/runtime/go/idem v0.0.0
	github.com/stretchr/testify v1.12.1
	google.golang.org/genproto v0.0.0-20250303144028-a0af3efb3deb
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/idem-spec/idem/runtime/go/idem => ../runtime/go/idem
