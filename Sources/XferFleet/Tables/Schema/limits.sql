-- Limits and what goes away with time.

-- The lock waits for claims and reports under way and keeps new ones out, so the count is exact from here on.
CREATE FUNCTION fleet_limit_host(a_name text, a_max integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOCK TABLE fleet_lease IN SHARE MODE;
    v_id := fleet_host_of(a_name);
    UPDATE fleet_host h SET max_active = a_max, leased = CASE WHEN a_max IS NULL THEN 0 ELSE (
        SELECT count(*) FROM fleet_lease e JOIN fleet_lane l ON l.id = e.lane WHERE l.host = v_id) END
    WHERE h.id = v_id;
    PERFORM fleet_tell('limit_changed', NULL, ARRAY[NULL]::bigint[], NULL, NULL);
END $$;

CREATE FUNCTION fleet_limit_group(a_owner text, a_name text, a_max integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOCK TABLE fleet_lease IN SHARE MODE;
    v_id := fleet_group_of(fleet_owner_of(a_owner), a_name);
    UPDATE fleet_group g SET max_active = a_max, leased = CASE WHEN a_max IS NULL THEN 0 ELSE (
        SELECT count(*) FROM fleet_lease e JOIN fleet_lane l ON l.id = e.lane WHERE l.group_id = v_id) END
    WHERE g.id = v_id;
    PERFORM fleet_tell('limit_changed', NULL, ARRAY[NULL]::bigint[], NULL, NULL);
END $$;

CREATE FUNCTION fleet_limit_owner(a_name text, a_max integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    LOCK TABLE fleet_lease IN SHARE MODE;
    v_id := fleet_owner_of(a_name);
    UPDATE fleet_owner o SET max_active = a_max, leased = CASE WHEN a_max IS NULL THEN 0 ELSE (
        SELECT count(*) FROM fleet_lease e JOIN fleet_lane l ON l.id = e.lane WHERE l.owner = v_id) END
    WHERE o.id = v_id;
    PERFORM fleet_tell('limit_changed', NULL, ARRAY[NULL]::bigint[], NULL, NULL);
END $$;

CREATE FUNCTION fleet_pause_group(a_owner text, a_name text, a_is_paused boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    v_id := fleet_group_of(fleet_owner_of(a_owner), a_name);
    UPDATE fleet_group SET is_paused = a_is_paused WHERE id = v_id;
    PERFORM fleet_tell('limit_changed', NULL, ARRAY[NULL]::bigint[], NULL, NULL);
END $$;

CREATE FUNCTION fleet_cool_down(a_host text, a_microseconds bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_id bigint;
BEGIN
    v_id := fleet_host_of(a_host);
    UPDATE fleet_host SET cooldown_until = greatest(
        cooldown_until, clock_timestamp() + a_microseconds * interval '1 microsecond') WHERE id = v_id;
END $$;

-- The newest event always stays: the next one's number is counted from it.
CREATE FUNCTION fleet_trim(a_keep bigint, a_microseconds bigint, a_limit integer)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_oldest bigint;
    v_newest bigint;
    v_until bigint;
    v_tasks bigint[];
    v_state text;
BEGIN
    SELECT oldest_event INTO v_oldest FROM fleet_meta FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN false; END IF;
    SELECT seq INTO v_newest FROM fleet_event ORDER BY seq DESC LIMIT 1;
    v_until := least(v_oldest + a_limit, v_newest - greatest(a_keep, 1) + 1);
    IF v_until > v_oldest THEN
        DELETE FROM fleet_event WHERE seq >= v_oldest AND seq < v_until;
        UPDATE fleet_meta SET oldest_event = v_until;
    END IF;
    FOREACH v_state IN ARRAY ARRAY['completed', 'failed', 'cancelled', 'outcome_unknown'] LOOP
        v_tasks := coalesce(v_tasks, '{}') || ARRAY(
            SELECT task FROM fleet_end WHERE state = v_state
                AND ended_at < now() - a_microseconds * interval '1 microsecond'
            ORDER BY ended_at LIMIT a_limit / 4 FOR UPDATE SKIP LOCKED);
    END LOOP;
    DELETE FROM fleet_end WHERE task = ANY (v_tasks);
    DELETE FROM fleet_result WHERE task = ANY (v_tasks);
    DELETE FROM fleet_progress WHERE task = ANY (v_tasks);
    DELETE FROM fleet_task WHERE id = ANY (v_tasks);
    RETURN v_until - v_oldest >= a_limit OR cardinality(v_tasks) >= a_limit / 4;
END $$;
