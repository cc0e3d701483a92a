-- Until when the destination of a binding asked for a pause. A change starts no push before that. next_try_at may be later,
-- because the server's own pauses grow, and a change ends such a pause.
alter table sync_bindings add column asked_until timestamptz(3);
