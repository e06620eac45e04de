-- Accounts and API keys. Not made from the event log: it must hold neither addresses nor hashes, so these tables need a backup
-- of their own. What the log must know of their changes waits in identity_change until it is there.

-- The id is the owner of everything that the account makes. Addresses come in lower case; in the C locale lower() changes ASCII
-- only, so it accepts what the program lower-cased by Unicode's rules.
CREATE TABLE account (
    id                    uuid PRIMARY KEY,
    email                 text NOT NULL UNIQUE CHECK (email = lower(email)),
    name                  text NOT NULL DEFAULT '',
    role                  text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator')),
    reward_models_enabled boolean NOT NULL DEFAULT true,
    created_at            timestamptz NOT NULL DEFAULT now()
);

-- hash: SHA-256 of the secret part of the key's text, which is 256 random bits and stands nowhere.
CREATE TABLE api_key (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    scope        text NOT NULL CHECK (scope IN ('full', 'read-only')),
    name         text NOT NULL DEFAULT '',
    shown        text NOT NULL,
    hash         bytea NOT NULL CHECK (octet_length(hash) = 32),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX api_key_account ON api_key (account_id);

-- Events on their way to the log, in the order of their ids.
CREATE TABLE identity_change (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    kind       text NOT NULL,
    payload    jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
