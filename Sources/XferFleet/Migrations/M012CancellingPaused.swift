extension FleetMigration {
    /// Cancelling paused tasks whose former node may have published.
    static let cancellingPaused = FleetMigration(
        name: "cancelling paused",
        statements: [
            // Queues those that are still paused and have an open permit, first in their lanes: the node that takes one next
            // looks at the storage, and ends it as completed or cancelled.
            """
            CREATE FUNCTION fleet_cancel_paused(a_tasks bigint[]) RETURNS TABLE (done bigint) \(settings) AS $$
            #variable_conflict use_column
            DECLARE
                v_tasks bigint[];
                v_attempts integer[];
                v_reasons text[];
            BEGIN
                -- A resume that commits first has deleted the row, and the caller judges the task again.
                v_tasks := ARRAY(SELECT p.task FROM fleet_paused p WHERE p.task = ANY (a_tasks)
                    ORDER BY p.task FOR UPDATE);
                WITH marked AS (
                    UPDATE fleet_permit p SET was_cancelling = true WHERE p.task = ANY (v_tasks) AND p.is_open
                    RETURNING p.task
                ) SELECT array_agg(DISTINCT m.task) INTO v_tasks FROM marked m;
                IF v_tasks IS NULL THEN RETURN; END IF;
                SELECT array_agg(w.task ORDER BY w.task), array_agg(w.attempt ORDER BY w.task),
                    array_agg(w.reason ORDER BY w.task)
                INTO v_tasks, v_attempts, v_reasons
                FROM fleet_withdraw(v_tasks, array_fill('paused'::text, ARRAY[cardinality(v_tasks)])) w;
                PERFORM fleet_enqueue(v_tasks, v_attempts, v_reasons, true);
                PERFORM fleet_tell('resumed', NULL, v_tasks, fleet_owners_of(v_tasks),
                    array_fill('{"wish":"cancel"}'::text, ARRAY[cardinality(v_tasks)]));
                RETURN QUERY SELECT unnest(v_tasks);
            END $$
            """
        ])
}
