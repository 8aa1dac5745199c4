package observe

// Layer is what kept a message that had its effect from another one. (CONS-041)
type Layer uint8

// The layers.
const (
	LayerNone    Layer = iota // nothing had to
	LayerWindow               // a runtime's own memory
	LayerRedis                // a memory in front of the store
	LayerStore                // the dedup record
	LayerState                // the state machine
	LayerHandler              // the handler itself
)

var layerNames = [...]string{
	LayerNone: "", LayerWindow: "window", LayerRedis: "redis", LayerStore: "store", LayerState: "state", LayerHandler: "handler",
}

// Layers are those that have a name.
func Layers() []Layer {
	return []Layer{LayerWindow, LayerRedis, LayerStore, LayerState, LayerHandler}
}

// String is the layer's name; that of LayerNone is empty.
func (l Layer) String() string {
	if int(l) < len(layerNames) {
		return layerNames[l]
	}
	return "unknown"
}
