// Views, routines, triggers and events run with the rights of their definer, which the server stores as a name. They
// remain when the account is dropped. A later account of the same name would give them its rights.

export interface DefinedObject {
  kind: string
  database: string
  name: string
}

/**
 * Selects the objects that run with the rights of an account.
 *
 * @param definer `name@host`, as the server stores both
 * @param database limits views and triggers to this database, because the server opens every table to find them all.
 * Null searches all databases
 */
export function definedBy(definer: string, database: string | null): string {
  const within = (column: string) => (database === null ? '' : ` AND ${column} = '${database}'`)
  return `SELECT 'view' AS kind, table_schema AS db, table_name AS name FROM information_schema.views
      WHERE definer = '${definer}' AND security_type = 'DEFINER'${within('table_schema')}
    UNION ALL SELECT LOWER(routine_type), routine_schema, routine_name FROM information_schema.routines
      WHERE definer = '${definer}' AND security_type = 'DEFINER'
    UNION ALL SELECT 'trigger', trigger_schema, trigger_name FROM information_schema.triggers
      WHERE definer = '${definer}'${within('trigger_schema')}
    UNION ALL SELECT 'event', event_schema, event_name FROM information_schema.events WHERE definer = '${definer}'`
}

export const definedObject = (row: Readonly<Record<string, unknown>>): DefinedObject => ({
  kind: String(row.kind),
  database: String(row.db),
  name: String(row.name),
})

export const labelOf = ({ kind, database, name }: DefinedObject): string => `${kind} ${database}.${name}`

const kinds = ['view', 'function', 'procedure', 'package', 'package body', 'trigger', 'event']

export function dropStatement({ kind, database, name }: DefinedObject): string {
  if (!kinds.includes(kind)) throw new Error(`there is no kind of object ${kind}`)
  return `DROP ${kind.toUpperCase()} IF EXISTS ${quoted(database)}.${quoted(name)}`
}

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** Rights on a database. An admin without them cannot see these objects, or cannot drop them. */
export const rightsOnObjects = ['DROP', 'SHOW VIEW', 'ALTER ROUTINE', 'TRIGGER', 'EVENT'] as const
