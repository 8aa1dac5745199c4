// Command books reads what the shop has done, in the three databases and in the ledgers outside, and says whether it
// adds up: nobody paid twice, no order lost, no mail twice.
//
//	books watch              a live view, on a terminal
//	books check SHEET        waits until the orders of the sheet, which load wrote, are through, and checks them
//
// It takes KAFKA_BROKERS, ORDERS_DATABASE_URL, PAYMENTS_DATABASE_URL, NOTIFICATIONS_DATABASE_URL, and OUTSIDE_URL. What is
// not given is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errWrong says that the books do not add up; what is wrong was printed.
var errWrong = errors.New("the books do not add up")

func main() {
	within := flag.Duration("within", 3*time.Minute, "how long check waits for the last order")
	flag.Parse()
	if err := run(flag.Args(), *within); err != nil {
		fmt.Fprintln(os.Stderr, "books:", err)
		os.Exit(1)
	}
}

func run(arguments []string, within time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := open(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	switch {
	case len(arguments) == 1 && arguments[0] == "watch":
		return b.watch(ctx)
	case len(arguments) == 2 && arguments[0] == "check":
		return b.check(ctx, arguments[1], within)
	}
	return errors.New("give watch, or check and the sheet of the orders")
}
