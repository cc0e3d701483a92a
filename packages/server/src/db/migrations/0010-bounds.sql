-- An expiry as it was sent: clients that keep it (Terraform) compare it letter by letter with what they are answered.
alter table service_tokens add column expires_at_given ascii;
update service_tokens
   set expires_at_given = to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
 where expires_at is not null;
