-- Where the former queue never ran, its schema is empty. A schema that holds something belongs to another program.
do $$
begin
  drop schema if exists jobs;
exception
  when dependent_objects_still_exist or insufficient_privilege then null;
end
$$;
