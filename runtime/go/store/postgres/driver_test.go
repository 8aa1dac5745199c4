package postgres_test

import (
	"context"
	"database/sql/driver"
	"errors"
)

// otherDriver is a driver of database/sql that is not pgx's.
type otherDriver struct{}

func (otherDriver) Connect(context.Context) (driver.Conn, error) { return otherConn{}, nil }
func (otherDriver) Driver() driver.Driver                        { return nil }

type otherConn struct{}

func (otherConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (otherConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (otherConn) Close() error                        { return nil }
