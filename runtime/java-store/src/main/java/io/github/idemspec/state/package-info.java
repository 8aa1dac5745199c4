/**
 * The SQL guard of a state machine over the user's own table: it moves one row from the state that a
 * message expects to the state that it brings, or says why not (STATE-010 to STATE-013).
 */
package io.github.idemspec.state;
