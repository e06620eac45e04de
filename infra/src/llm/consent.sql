SELECT allowed FROM rm_llm_switches WHERE owner_id = $1 AND purpose = $2
