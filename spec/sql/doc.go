// Package sql holds the tables and the statements of idem's stores as SQL files, for every language alike:
// NNN_words.{up,down}.sql are the versions of the tables, statements/ what runs on the last of them. How large
// the tables get is in README.md.
package sql
