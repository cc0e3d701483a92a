import pg from 'pg'
import { wrappedKey } from '../../packages/server/test/blobs.ts'
import { newBearer, newCiphertext, request } from './tenant.ts'

// Inserts many organizations by SQL over sets. Each has 4 applications and a group that all of them use. Each
// application and each group has 5 environments, with 30, 35, 40, 45 and 50 secrets. So an organization has 1,000
// secrets, and every resolve returns 60 to 100 of them in two layers.

export const secretsPerOrg = 1000

interface Org {
  id: string
  token: string
  hash: string
  bearer: string
}

/** Fills a migrated database -> requests, each of which resolves a random environment. */
export async function populate(databaseUrl: string, secretCount: number, requestCount: number): Promise<string[]> {
  const orgs: Org[] = Array.from({ length: secretCount / secretsPerOrg }, () => {
    const { id, hash, bearer } = newBearer()
    return { id: id.replace('skt_', 'org_'), token: id, hash, bearer }
  })
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    // Without triggers, because no cache has anything to evict yet, and all references below are valid.
    await client.query('set session_replication_role = replica; set synchronous_commit = off')
    await client.query(organizations, [orgs.map((org) => org.id)])
    await client.query(tokens, [orgs.map((org) => org.id), orgs.map((org) => org.token), orgs.map((org) => org.hash)])
    for (const text of [applications, groups, environments, compositions]) await client.query(text)
    await client.query(keyGrants, [wrappedKey()])
    await client.query(secrets, [newCiphertext().slice(0, -12)])
    await client.query(versions)
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    const { rows } = await client.query<{ orgId: string; id: string }>(anyEnvironments, [requestCount])
    const bearers = new Map(orgs.map((org) => [org.id, org.bearer]))
    return rows.map(({ orgId, id }) => request('GET', `/v1/resolve?env=${id}`, bearers.get(orgId) as string))
  } finally {
    await client.end()
  }
}

/** Real ids are random. These ids are spread over the indexes in the same way. */
const id = (prefix: string, of: string) => `'${prefix}_' || substr(md5('${prefix}' || ${of}), 1, 22)`

const organizations = `
  insert into organizations (id, name, slug, created_at, updated_at)
  select id, 'Org', 'org-' || n, now(), now() from unnest($1::text[]) with ordinality as o(id, n)`

const tokens = `
  insert into service_tokens (org_id, id, token_hash, name, role, public_key_jwk, created_by_type, created_by_id,
                              created_at)
  select org_id, id, hash, 'bench', 'member', '{}', 'm2m', 'm2m_0', now()
    from unnest($1::text[], $2::text[], $3::text[]) as t(org_id, id, hash)`

const applications = `
  insert into applications (org_id, id, name, slug, created_at, updated_at)
  select o.id, ${id('app', 'o.id || n')}, 'App', 'app-' || n, now(), now()
    from organizations o, generate_series(1, 4) n`

const groups = `
  insert into groups (org_id, id, name, slug, created_at, updated_at)
  select id, ${id('grp', 'id')}, 'Group', 'group', now(), now() from organizations`

const environments = `
  insert into environments (org_id, id, application_id, group_id, name, slug, created_at, updated_at)
  select owner.org_id, ${id('env', 'coalesce(owner.app, owner.grp) || n')}, owner.app, owner.grp, 'Env', 'env-' || n,
         now(), now()
    from (select org_id, id as app, null as grp from applications
          union all select org_id, null, id from groups) owner, generate_series(1, 5) n`

const compositions = `
  insert into compositions (org_id, environment_id, group_id, position)
  select e.org_id, e.id, g.id, 1
    from environments e join groups g on g.org_id = e.org_id where e.application_id is not null`

const keyGrants = `
  insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type,
                          granted_by_id, created_at)
  select e.org_id, ${id('ek', 'e.id')}, e.id, 'service_token', t.id, $1, 'm2m', 'm2m_0', now()
    from environments e join service_tokens t on t.org_id = e.org_id`

const secrets = `
  insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
  select e.org_id, ${id('sec', 'e.id || n')}, e.id, 'SECRET_NUMBER_' || lpad(n::text, 3, '0'), 1,
         $1 || substr(md5(e.id || n), 1, 12), now(), now()
    from environments e, generate_series(1, 25 + 5 * substr(e.slug, 5)::int) n`

const versions = `
  insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
  select org_id, id, 1, ciphertext, 'service_token', 'skt_0', now() from secrets`

const anyEnvironments = `
  select org_id as "orgId", id from environments where application_id is not null order by random() limit $1`
