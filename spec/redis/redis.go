// Package redis holds the Lua scripts of idem on Redis, one for each step. Each says in its head what KEYS and
// ARGV are. They are for Redis 6 and later, in any language.
package redis

import _ "embed"

// The scripts of a store of records.
var (
	//go:embed claim.lua
	Claim string
	//go:embed complete.lua
	Complete string
	//go:embed settle.lua
	Settle string
	//go:embed renew.lua
	Renew string
	//go:embed forget.lua
	Forget string
)

// The scripts of hints in front of a database.
var (
	//go:embed hint_look.lua
	HintLook string
	//go:embed hint_succeed.lua
	HintSucceed string
	//go:embed hint_fail.lua
	HintFail string
	//go:embed hint_extend.lua
	HintExtend string
	//go:embed hint_forget.lua
	HintForget string
)
