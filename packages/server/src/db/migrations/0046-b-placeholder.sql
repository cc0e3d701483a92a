-- A place for the migration of another branch.
select 1;
