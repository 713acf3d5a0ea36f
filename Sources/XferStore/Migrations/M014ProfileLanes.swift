extension Migration {
    /// Lanes are kept apart by profile, too, so that profiles can have limits of their own.
    static let profileLanes = Migration(
        name: "lanes by profile",
        sql: """
            DROP INDEX task_queue;
            CREATE INDEX task_queue ON task (priority, group_id, profile, host, rank) WHERE state = 'queued';

            -- One row per lane: priority, group, profile ('' is none) and host with queued tasks; `turn` is the place in
            -- the rotation.
            ALTER TABLE host_queue RENAME TO old_host_queue;
            DROP INDEX host_turn;
            DROP INDEX host_lane;
            CREATE TABLE host_queue (
                priority INTEGER NOT NULL,
                group_id INTEGER NOT NULL,
                profile TEXT NOT NULL,
                host TEXT NOT NULL,
                queued INTEGER NOT NULL,
                turn INTEGER NOT NULL,
                cooling INTEGER NOT NULL,
                PRIMARY KEY (priority, group_id, profile, host)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO host_queue (priority, group_id, profile, host, queued, turn, cooling)
                SELECT task.priority, task.group_id, coalesce(task.profile, ''), task.host, count(*), min(old.turn),
                    min(old.cooling)
                FROM task JOIN old_host_queue old ON old.priority = task.priority AND old.group_id = task.group_id
                    AND old.host = task.host
                WHERE task.state = 'queued' GROUP BY 1, 2, 3, 4;
            DROP TABLE old_host_queue;
            CREATE INDEX host_turn ON host_queue (priority, group_id, profile, cooling, turn);
            CREATE INDEX host_lane ON host_queue (host);

            -- One row per line: priority, group and profile with queued tasks. `turn` is that of its first lane that is
            -- not cooling down, null without one; `held` while the group is paused; `only_host` where it has one lane,
            -- else ''.
            DROP TABLE group_queue;
            CREATE TABLE group_queue (
                priority INTEGER NOT NULL,
                group_id INTEGER NOT NULL,
                profile TEXT NOT NULL,
                held INTEGER NOT NULL,
                turn INTEGER,
                only_host TEXT NOT NULL,
                PRIMARY KEY (priority, group_id, profile)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO group_queue (priority, group_id, profile, held, turn, only_host)
                SELECT priority, group_id, profile,
                    EXISTS (SELECT 1 FROM queue_group WHERE id = group_id AND paused = 1),
                    min(turn) FILTER (WHERE cooling = 0), CASE count(*) WHEN 1 THEN min(host) ELSE '' END
                FROM host_queue GROUP BY 1, 2, 3;
            CREATE INDEX group_turn ON group_queue (priority, held, only_host, turn);

            -- The lowest turn that was given: who is put at the head gets one below it.
            ALTER TABLE rotation ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
            UPDATE rotation SET first =
                min(0, coalesce((SELECT min(turn) FROM host_queue WHERE priority = rotation.priority), 0));

            DELETE FROM only_host_queue;
            INSERT INTO only_host_queue (priority, host, turn)
                SELECT priority, only_host, min(turn) FROM group_queue
                WHERE held = 0 AND only_host <> '' AND turn IS NOT NULL GROUP BY 1, 2;
            """)
}
