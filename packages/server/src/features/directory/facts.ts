import { isDeepStrictEqual } from 'node:util'
import type { Claim } from '@skerry/contract/directory/schemas'
import { slugPattern } from '@skerry/contract/patterns'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { hashOfReaders, type OpenedEntry, thumbprint } from '../../keys/directory.ts'
import { holderIsAble, isAble } from '../../model/environments/keyed.ts'
import { tokenStands } from '../../model/tokens/table.ts'

// Claims of the server about the objects that have entries. A signer compares them with their knowledge, and the server
// compares it with what was signed.

export type Fact = Omit<Static<typeof Claim>, 'signedReaders'>

/** SQL of the holders of grants `k` with their public keys, as JSON. A holder is named by the key of its entry. */
const readersOf = (grants: string, condition: string) => `(
  select coalesce(json_agg(json_build_array(
           case k.principal_type when 'user' then 'person/' when 'service_token' then 'token/' else 'worker/' end
             || k.principal_id,
           coalesce(u.public_key_jwk, t.public_key_jwk, s.public_key_jwk))), '[]')
    from ${grants} k
    left join users u on k.principal_type = 'user' and u.id = k.principal_id
    left join service_tokens t on k.principal_type = 'service_token' and t.org_id = k.org_id and t.id = k.principal_id
    left join server_keypairs s on s.org_id = k.org_id and s.owner_id = k.principal_id
     and (k.principal_type, s.purpose) in (('rotator', 'rotator'), ('sync_connection', 'sync'))
   where ${condition}) as readers`

const none = 'null::json as readers'

/**
 * The objects of each kind, in organization $1 at the instant $2. The columns are the name behind the slash of the key, the
 * members that the server knows, the public key behind `kid`, and the readers. A kind is the beginning of its keys, and the
 * order here is theirs.
 *
 * A reader is the holder of a grant who can use it. A token that is bound to a branch has the name of the parent. A decoy
 * has neither a name nor a public key here, so its entry can have any. A managed key has an entry only if its name is a slug. Branches have none.
 */
const facts = {
  environment: `
    select coalesce(p.slug || '/', g.slug || ':') || e.slug as name,
           json_build_object('id', e.id, 'layers', (
             select coalesce(json_agg(lg.slug || ':' || l.slug order by c.position, lg.slug), '[]')
               from compositions c
               join groups lg on lg.org_id = c.org_id and lg.id = c.group_id
               join environments l on l.org_id = lg.org_id and l.group_id = lg.id and l.slug = e.slug
              where c.org_id = e.org_id and c.environment_id = e.id)) as value,
           null as public_key_jwk,
           ${readersOf('key_grants', `k.org_id = e.org_id and k.environment_id = e.id and ${isAble('$2')}`)}
      from environments e
      left join applications p on p.org_id = e.org_id and p.id = e.application_id
      left join groups g on g.org_id = e.org_id and g.id = e.group_id
     where e.org_id = $1 and e.parent_environment_id is null`,
  key: `
    select q.name,
           json_build_object('id', q.id, 'versions', (
             select json_agg(json_build_object('version', v.version, 'jwk', v.public_key_jwk) order by v.version)
               from kms_key_versions v where v.org_id = q.org_id and v.key_id = q.id)) as value,
           null as public_key_jwk,
           ${readersOf(
             'kms_grants',
             `k.org_id = q.org_id and k.key_id = q.id and k.version = q.current_version and ${holderIsAble('$2')}`,
           )}
      from kms_keys q
     where q.org_id = $1 and q.deleted_at is null and q.name ~ '${slugPattern}'`,
  person: `
    select m.user_id as name, json_build_object('email', u.email) as value, u.public_key_jwk, ${none}
      from memberships m join users u on u.id = m.user_id
     where m.org_id = $1 and u.public_key_jwk is not null and u.email is not null`,
  token: `
    select t.id as name,
           case when t.public_key_jwk is null then json_build_object('environment', null::text)
                else json_build_object('name', t.name, 'environment', p.slug || '/' || b.slug) end as value,
           t.public_key_jwk, ${none}
      from service_tokens t
      left join environments e on e.org_id = t.org_id and e.id = t.environment_id
      left join environments b on b.org_id = e.org_id and b.id = coalesce(e.parent_environment_id, e.id)
      left join applications p on p.org_id = b.org_id and p.id = b.application_id
     where t.org_id = $1
       and (${tokenStands('$2')} or exists (select from honey_tokens h where h.org_id = t.org_id and h.token_id = t.id))`,
  worker: `
    select s.owner_id as name, json_build_object('heldBy', 'server') as value, s.public_key_jwk, ${none}
      from server_keypairs s
     where s.org_id = $1
       and (s.purpose = 'rotator'
            or s.purpose = 'sync' and exists (
              select from sync_connections c where c.org_id = s.org_id and c.id = s.owner_id))`,
} as const satisfies Record<string, string>

type Kind = keyof typeof facts
const kinds = Object.keys(facts) as Kind[]

interface FactRow {
  name: string
  value: Record<string, unknown>
  publicKeyJwk: string | null
  readers: [key: string, publicKeyJwk: string][] | null
}

interface Wanted {
  /** The names; null for all. */
  names: string[] | null
  after: string | null
  take: number | null
}

/** Not every kind asks for the time, so the clock gives the parameter its type. */
const listOfKind = (db: Sql, orgId: string, kind: Kind, now: string, { names, after, take }: Wanted) =>
  db.rows<FactRow>(
    `select f.name, f.value, f.public_key_jwk, f.readers
       from (${facts[kind]}) f cross join (select $2::timestamptz) clock
      where ($3::text[] is null or f.name = any($3)) and ($4::text is null or f.name collate "C" > $4)
      order by f.name collate "C" limit $5`,
    [orgId, now, names, after, take],
  )

/** The facts after a key, in the order of keys. */
export async function listFacts(
  db: Sql,
  orgId: string,
  now: string,
  { after, take }: { after: string | null; take: number },
): Promise<Fact[]> {
  const found: Fact[] = []
  const [kindAfter, nameAfter] = after === null ? [null, null] : partsOf(after)
  for (const kind of kinds) {
    if (kindAfter !== null && kind < kindAfter) continue
    const wanted = { names: null, after: kind === kindAfter ? nameAfter : null, take: take - found.length }
    const rows = await listOfKind(db, orgId, kind, now, wanted)
    found.push(...(await Promise.all(rows.map((row) => factOf(kind, row)))))
    if (found.length === take) break
  }
  return found
}

/** The facts with these keys. A key without an object has no fact. */
export async function findFacts(
  db: Sql,
  orgId: string,
  now: string,
  keys: readonly string[],
): Promise<Map<string, Fact>> {
  const found = new Map<string, Fact>()
  for (const kind of kinds) {
    const names = keys.filter((key) => key.startsWith(`${kind}/`)).map((key) => partsOf(key)[1])
    if (names.length === 0) continue
    for (const row of await listOfKind(db, orgId, kind, now, { names, after: null, take: null })) {
      const fact = await factOf(kind, row)
      found.set(fact.key, fact)
    }
  }
  return found
}

function partsOf(key: string): [kind: string, name: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}

async function factOf(kind: Kind, { name, value, publicKeyJwk, readers }: FactRow): Promise<Fact> {
  return {
    key: `${kind}/${name}`,
    value: {
      ...value,
      ...(publicKeyJwk === null ? {} : { kid: await thumbprint(publicKeyJwk) }),
      ...(kind === 'key' ? { versions: (value.versions as Version[]).map(versionOf) } : {}),
    },
    readers: readers && (await readersIn(readers)),
  }
}

async function readersIn(holders: NonNullable<FactRow['readers']>): Promise<[string, string][]> {
  const found = await Promise.all(
    holders.map(async ([key, jwk]): Promise<[string, string]> => [key, await thumbprint(jwk)]),
  )
  return found.sort(([one], [other]) => (one < other ? -1 : 1))
}

interface Version {
  version: number
  jwk: string | null
}

/** A key that signs shows its public key in the form of entries. The commitment of a key that encrypts is the client’s. */
function versionOf({ version, jwk }: Version): object {
  if (jwk === null) return { version }
  const { crv, kty, x, y } = JSON.parse(jwk) as Record<string, string>
  return { version, jwk: y === undefined ? { crv, kty, x } : { crv, kty, x, y } }
}

/**
 * Returns the member of a signed entry that differs from the fact, or null. Members that the server cannot know, such as
 * commitments to keys, are not compared.
 */
export async function differingMember(
  value: NonNullable<OpenedEntry['value']>,
  { value: known, readers }: Fact,
): Promise<string | null> {
  const given: Record<string, unknown> = {
    ...value,
    ...('versions' in value && { versions: value.versions.map(bare) }),
  }
  const expected: Record<string, unknown> = { ...known, ...(readers && { readers: await hashOfReaders(readers) }) }
  return Object.keys(expected).find((member) => !isDeepStrictEqual(given[member], expected[member])) ?? null
}

const bare = ({ commitment: _, ...version }: { version: number; commitment?: string }) => version
