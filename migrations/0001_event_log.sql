-- The event log, when it is kept in Postgres. Nothing else in the database is a source of truth.
--
--   log_meta       one row: the log's identity and its number of partitions, fixed when it was made
--   log_partition  one row per partition: the offset that its next record gets, and the time of its last one
--   log_record     the records; never changed, never removed
--
-- Offsets come from log_partition, not from a sequence: its row stays locked until the transaction commits, so the next
-- writer waits, offsets have no gaps, and no reader ever sees a record before all those below it.

CREATE TABLE log_meta (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    partitions integer NOT NULL CHECK (partitions BETWEEN 1 AND 32767),
    created    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Every append updates these few rows in place. A page is left nearly empty so that each new version of a row finds room in
-- the same page and no index changes (HOT); old versions are pruned as the page is visited, long before any vacuum.
CREATE TABLE log_partition (
    partition    integer PRIMARY KEY CHECK (partition >= 0),
    next_offset  bigint NOT NULL DEFAULT 0 CHECK (next_offset >= 0),
    last_time_us bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

-- time_us: microseconds since the Unix epoch, given by the log, never decreasing within a partition.
CREATE TABLE log_record (
    partition integer NOT NULL,
    "offset"  bigint NOT NULL,
    time_us   bigint NOT NULL,
    key       bytea NOT NULL,
    value     bytea NOT NULL,
    PRIMARY KEY (partition, "offset"),
    -- RECORD_BYTES_MAX: what Kafka would refuse is refused here too, so that every log can be moved to it.
    CONSTRAINT log_record_size CHECK (octet_length(value) <= 2097152)
);

-- What a record holds is sealed, and so does not compress: neither tried inline nor out of line.
ALTER TABLE log_record ALTER COLUMN key SET STORAGE PLAIN;
ALTER TABLE log_record ALTER COLUMN value SET STORAGE EXTERNAL;
-- Values of 2 to 8 kB stay in their row too: measured 15 % faster at 3 kB than out of line with an index of their own.
ALTER TABLE log_record SET (toast_tuple_target = 8160);

-- Appends records in one round trip and one transaction.
--
-- `lanes` are the partitions concerned, each once, in ascending order: every writer locks them in this one order, so two can
-- never wait for each other. `counts` says how many records each lane gets. `lane_of`, `keys` and `contents` describe the
-- records, lane by lane, in the order that they shall have. Returns the offset of the first record of each lane. `log` is
-- the identity of the log that the caller means.
CREATE FUNCTION log_append(
    log uuid, lanes integer[], counts integer[], lane_of integer[], keys bytea[], contents bytea[]
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    firsts bigint[] := '{}';
    bases  bigint[] := '{}';  -- a lane's first offset less the number (from 1) of its first record in the arrays
    times  bigint[] := '{}';
    before bigint := 1;
    first  bigint;
    taken  bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM log_meta WHERE id = log) THEN
        RAISE EXCEPTION 'this database no longer holds the event log %', log USING ERRCODE = 'data_corrupted';
    END IF;

    FOR lane IN 1 .. cardinality(lanes) LOOP
        UPDATE log_partition
        SET next_offset = next_offset + counts[lane],
            last_time_us = greatest(last_time_us, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
        WHERE partition = lanes[lane]
        RETURNING next_offset - counts[lane], last_time_us INTO first, taken;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the event log has no partition %', lanes[lane] USING ERRCODE = 'data_corrupted';
        END IF;
        firsts := firsts || first;
        bases := bases || first - before;
        times := times || taken;
        before := before + counts[lane];
    END LOOP;

    INSERT INTO log_record (partition, "offset", time_us, key, value)
    SELECT lanes[r.lane], bases[r.lane] + r.number, times[r.lane], r.key, r.content
    FROM unnest(lane_of, keys, contents) WITH ORDINALITY AS r (lane, key, content, number);
    RETURN firsts;
END
$$;

-- Reads records of several partitions, each from an offset on, in the order given: at most `count_max`, and of about
-- `bytes_max` bytes, but at least one if there is one. One query, so one snapshot.
CREATE FUNCTION log_read(wanted integer[], from_offsets bigint[], count_max integer, bytes_max bigint)
RETURNS SETOF log_record LANGUAGE plpgsql STABLE AS $$
DECLARE
    record     log_record;
    count_left integer := count_max;
    bytes_left bigint := bytes_max;
BEGIN
    FOR i IN 1 .. cardinality(wanted) LOOP
        -- Offsets have no gaps, so a range bounds the count; unlike LIMIT it needs no guess by the planner.
        FOR record IN
            SELECT * FROM log_record r
            WHERE r.partition = wanted[i] AND r."offset" >= from_offsets[i] AND r."offset" < from_offsets[i] + count_left
            ORDER BY r."offset"
        LOOP
            bytes_left := bytes_left - octet_length(record.value);
            IF bytes_left < 0 AND count_left < count_max THEN
                RETURN;
            END IF;
            RETURN NEXT record;
            count_left := count_left - 1;
        END LOOP;
        IF count_left <= 0 OR bytes_left <= 0 THEN
            RETURN;
        END IF;
    END LOOP;
END
$$;

-- The first offset whose record was taken at or after a time; the next offset if there is none. Times never decrease with the
-- offset, so halving finds it with the primary key alone, in at most 63 steps.
CREATE FUNCTION log_offset_for_time(wanted integer, at_us bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    low    bigint := 0;
    high   bigint := (SELECT next_offset FROM log_partition WHERE partition = wanted);
    middle bigint;
BEGIN
    WHILE low < high LOOP
        middle := low + (high - low) / 2;
        IF (SELECT time_us FROM log_record WHERE partition = wanted AND "offset" = middle) >= at_us THEN
            high := middle;
        ELSE
            low := middle + 1;
        END IF;
    END LOOP;
    RETURN high;
END
$$;

-- History is not changed: not by a program's mistake, and not by a hand at a prompt, whatever its role.
CREATE FUNCTION log_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the event log is append-only: % of % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'To erase what a person wrote, delete the trace or the account: that destroys its key.';
END
$$;

CREATE TRIGGER log_record_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_record
    FOR EACH STATEMENT EXECUTE FUNCTION log_refuse_change();
CREATE TRIGGER log_meta_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_meta
    FOR EACH STATEMENT EXECUTE FUNCTION log_refuse_change();
CREATE TRIGGER log_partition_append_only BEFORE DELETE OR TRUNCATE ON log_partition
    FOR EACH STATEMENT EXECUTE FUNCTION log_refuse_change();

-- The role as which the log's own connections act. Roles belong to the whole cluster, so it may exist already, made for
-- another database; and a user of somebody else's server may not be allowed to make one: then the triggers stand alone.
DO $$
BEGIN
    BEGIN
        CREATE ROLE stash_log NOLOGIN;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;
        WHEN insufficient_privilege THEN
            RAISE NOTICE 'not allowed to make the role stash_log; the event log is protected by its triggers alone';
    END;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'stash_log') THEN
        IF NOT pg_has_role(current_user, 'stash_log', 'MEMBER') THEN
            GRANT stash_log TO CURRENT_USER;
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO stash_log', current_schema());
        GRANT SELECT, INSERT ON log_meta, log_partition, log_record TO stash_log;
        GRANT UPDATE (next_offset, last_time_us) ON log_partition TO stash_log;
    END IF;
END
$$;
