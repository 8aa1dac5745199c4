-- settings: the first statement of each transaction of the store, sent together with BEGIN ISOLATION LEVEL READ
-- COMMITTED (stated, whatever the database's default is). They end with the transaction.
--
-- Plans are fixed in advance: each statement joins a short list of keys with a table through its index, row by
-- row. A planner that has seen the table empty would rather read all of it, and keep that plan.
--
-- $1 text  lock_timeout, such as '250ms'
-- $2 text  statement_timeout
-- $3 text  idle_in_transaction_session_timeout: a client that is stopped in mid-transaction loses its locks
-- $4 text  plan_cache_mode: 'force_generic_plan', or 'force_custom_plan' where many parameters may be empty. Planned anew, a
--          claim of one key takes 310 µs in place of 130.
SELECT set_config('lock_timeout', $1, true),
       set_config('statement_timeout', $2, true),
       set_config('idle_in_transaction_session_timeout', $3, true),
       set_config('plan_cache_mode', $4, true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true),
       set_config('jit', 'off', true)
