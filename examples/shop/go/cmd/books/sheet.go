package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"
)

// sold is an order that the shop has taken.
type sold struct {
	total, currency string
	sent            time.Time
	refunded        bool
}

// readSheet reads what load wrote.
func readSheet(path string) (map[string]sold, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	orders := make(map[string]sold)
	for lines := bufio.NewScanner(file); ; {
		if !lines.Scan() {
			return orders, lines.Err()
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s: %q is no order", path, lines.Text())
		}
		sent, err := time.Parse(time.RFC3339Nano, fields[3])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		orders[fields[0]] = sold{total: fields[1], currency: fields[2], sent: sent, refunded: fields[4] != ""}
	}
}
