// Command buf-plugin-idem is the rules of `idem lint` and `idem breaking` within `buf lint` and `buf breaking`.
// The rules, what they check and what they say are those of idem: nothing is listed a second time here.
package main

import "buf.build/go/bufplugin/check"

func main() { check.Main(spec()) }
