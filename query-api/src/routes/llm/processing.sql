SELECT purpose, allowed FROM rm_llm_switches WHERE owner_id = $1
