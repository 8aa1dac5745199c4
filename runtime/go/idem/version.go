package idem

// SpecMajor is the major version of the spec that this core implements, the value of the idem_spec
// header.
const SpecMajor = 1

// The handshake of generated code with this core. Generated files refer to the newest constant they
// need, so that a core that is too old for them fails to compile at that line. A build that fails
// there is mended by: go get github.com/idem-spec/idem/runtime/go/idem@latest
const (
	// IsAtLeastVersion1_0 is true in 1.0 and later.
	IsAtLeastVersion1_0 = true
)
