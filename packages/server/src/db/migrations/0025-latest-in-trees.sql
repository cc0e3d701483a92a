-- Trees have no entry of a later transaction than this: of what comes after it, the sealer need not ask whether a tree has it.
alter table audit_sealing add column latest_xid xid8 not null default '0';
update audit_sealing
   set latest_xid = coalesce((select e.xid from audit_entries e order by e.xid desc limit 1), '0');
