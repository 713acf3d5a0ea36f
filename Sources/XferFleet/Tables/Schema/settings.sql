-- Every function of the schema runs with these settings, whatever the server's are.
--
-- Its arrays are short and its tables are long, so that a lookup by key is right for each element. A plan that was made
-- while a table was empty must not read all of it later. A lock that is not free after so long is a sign of trouble,
-- not of work.
DO $$
DECLARE v_function regprocedure;
BEGIN
    FOR v_function IN SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = current_schema()::regnamespace AND l.lanname = 'plpgsql'
            AND starts_with(p.proname::text, 'fleet_')
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off SET enable_hashjoin = off
            SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan
            SET lock_timeout = ''10s''', v_function);
    END LOOP;
END $$;
