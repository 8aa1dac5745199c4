package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/idem-spec/idem/bench/figures"
)

// side reads the whole file once.
type side struct {
	name string
	read func(file string) error
}

func main() {
	quick := flag.Bool("quick", false, "few rounds of few messages")
	flag.Parse()
	rounds, messages := 9, 200_000
	if *quick {
		rounds, messages = 3, 50_000
	}
	if err := run(rounds, messages); err != nil {
		fmt.Fprintln(os.Stderr, "bench/lint:", err)
		os.Exit(1)
	}
}

func run(rounds, messages int) error {
	dir, err := os.MkdirTemp("", "idem-bench-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	files, err := write(dir, messages)
	if err != nil {
		return err
	}
	checker, err := newChecker()
	if err != nil {
		return err
	}
	var r figures.Report
	for _, c := range []struct {
		title, file string
		sides       []side
	}{
		{"binary messages in a length-delimited file", files.delimited, []side{
			{"idem check --delimited", checker.delimited},
			{"proto.Unmarshal, generated type", delimitedFile(unmarshalGenerated())},
			{"proto.Unmarshal, dynamic message", delimitedFile(checker.unmarshalDynamic())},
		}},
		{"lines of payloads in JSON", files.bare, []side{
			{"idem check --bare", checker.bare},
			{"protojson.Unmarshal, generated type", lineFile(jsonGenerated())},
			{"protojson.Unmarshal, dynamic message", lineFile(checker.jsonDynamic())},
		}},
		{"lines of messages with eleven headers, beside payloads alone", files.lines, []side{
			{"idem check", checker.lines},
			{"protojson.Unmarshal of the payloads alone, generated type", func(string) error { return lineFile(jsonGenerated())(files.bare) }},
		}},
	} {
		made, err := compare(c.title, c.file, rounds, messages, c.sides)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		r.Comparisons = append(r.Comparisons, made...)
		size, err := os.Stat(c.file)
		if err != nil {
			return err
		}
		r.Facts = append(r.Facts, fmt.Sprintf("%s has %.1f MB, %d messages", filepath.Base(c.file), float64(size.Size())/1e6, messages))
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// compare lets sides take turns, and gives time on the wall and of processors for a message.
func compare(title, file string, rounds, messages int, sides []side) ([]figures.Comparison, error) {
	wall := figures.Comparison{Title: title + ", time on the wall", Unit: "ns"}
	cpu := figures.Comparison{Title: title + ", processor time", Unit: "ns"}
	for _, s := range sides {
		wall.Contenders = append(wall.Contenders, figures.Contender{Name: s.name})
		cpu.Contenders = append(cpu.Contenders, figures.Contender{Name: s.name})
	}
	err := figures.Turns(rounds, len(sides), func(i int, counts bool) error {
		runtime.GC() // so that nobody pays for what the one before has left
		began, before := time.Now(), figures.OwnCPU()
		if err := sides[i].read(file); err != nil {
			return fmt.Errorf("%s: %w", sides[i].name, err)
		}
		took, spent := time.Since(began), figures.OwnCPU()-before
		if counts {
			wall.Contenders[i].Rounds = append(wall.Contenders[i].Rounds, float64(took)/float64(messages))
			cpu.Contenders[i].Rounds = append(cpu.Contenders[i].Rounds, float64(spent)/float64(messages))
		}
		return nil
	})
	return []figures.Comparison{wall, cpu}, err
}
