-- What an account said of each use of language models on its content. No row: nothing, and so it is allowed.
CREATE TABLE rm_llm_switches (
    owner_id uuid NOT NULL,
    purpose text NOT NULL,
    allowed boolean NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (owner_id, purpose)
);
