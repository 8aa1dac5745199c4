-- complete_plan: before complete_last.sql. Its plan is the same for every key, and cheaper kept than made.
SELECT set_config('plan_cache_mode', 'force_generic_plan', true)
