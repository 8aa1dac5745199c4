package main

import (
	"cmp"
	"os"
	"os/user"
)

// operator is who runs the command, as user@host. Behind sudo it is the person.
func operator() string {
	name := os.Getenv("SUDO_USER")
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	host, _ := os.Hostname() // unknown is better than refused
	return cmp.Or(name, "unknown") + "@" + cmp.Or(host, "unknown")
}
