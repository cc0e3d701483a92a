import type { Sql } from '../../db/database.ts'

const shownNameCharacters = 80

/** Breaks up text that mail programs would turn into a link or an address. */
export const unlinked = (text: string, characters = shownNameCharacters): string =>
  text
    .replace(/(?<=\S)[.:/@。．｡](?=\S)/g, ' ')
    .slice(0, characters)
    .toWellFormed()

interface Named {
  id: string
  name: string | null
  email: string | null
}

/**
 * Says what people call a person. People choose their names, so only the address that the server knows looks like one.
 *
 * @example called({ id: 'usr_1', name: 'Ada Lovelace', email: 'ada@example.com' }) // 'Ada Lovelace (ada@example.com)'
 */
export function called({ id, name, email }: Named): string {
  if (name === null) return email ?? id
  return email === null ? unlinked(name) : `${unlinked(name)} (${email})`
}

/** Finds what people call a principal of an organization, for mails. The text contains no link. */
export async function findName(db: Sql, orgId: string, { type, id }: { type: string; id: string }): Promise<string> {
  if (type === 'user') {
    const person = await db.row<Named>('select id, name, email from users where id = $1', [id])
    return person ? called(person) : id
  }
  const row = await db.row<{ kind: string; name: string }>(
    `select 'service token' as kind, name from service_tokens where org_id = $1 and id = $2
      union all select 'machine client', name from machine_clients where org_id = $1 and id = $2`,
    [orgId, id],
  )
  return row ? `the ${row.kind} ${unlinked(row.name)}` : id
}
