import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { abort, given, listen } from './listen.ts'

// Answers resolve with one prepared query and without authentication. The environment is in the query string, and the
// principal whose keys it sends is fixed. No branches, no `with`, no checks; the same answer, byte for byte.

interface Given {
  databaseUrl: string
  poolSize: number
  principalId: string
}

interface Row {
  source: string
  environment_id: string
  slug: string
  group_slug: string | null
  wrapped_dek: string
  secrets: string
  org_id: string
  org_slug: string
  app_id: string
  app_slug: string
}

const { databaseUrl, poolSize, principalId } = await given<Given>()
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize })

const text = `
  with base as (
    select e.org_id, e.id, e.slug, o.slug as org_slug, a.id as app_id, a.slug as app_slug
      from environments e
      join organizations o on o.id = e.org_id
      join applications a on a.org_id = e.org_id and a.id = e.application_id
     where e.id = $1
  ), layer as (
    select 0 as tier, c.position, 'group' as source, e.id as environment_id, e.slug, g.slug as group_slug
      from base b
      join compositions c on c.org_id = b.org_id and c.environment_id = b.id
      join groups g on g.org_id = c.org_id and g.id = c.group_id
      join environments e on e.org_id = g.org_id and e.group_id = g.id and e.slug = b.slug
    union all
    select 1, 0, 'app', id, slug, null from base
  )
  select l.source, l.environment_id, l.slug, l.group_slug, k.wrapped_dek,
         b.org_id, b.org_slug, b.app_id, b.app_slug,
         (select string_agg('{"name":"' || s.name || '","ciphertext":"' || s.ciphertext || '"}', ',')
            from (select s.name, s.ciphertext from secrets s
                   where s.org_id = b.org_id and s.environment_id = l.environment_id
                   order by s.name) s) as secrets
    from layer l
    cross join base b
    join key_grants k on k.org_id = b.org_id and k.environment_id = l.environment_id
                     and k.principal_type = 'service_token' and k.principal_id = $2
   order by l.tier, l.position`

async function resolve(url: string, response: ServerResponse): Promise<void> {
  const environmentId = url.slice(url.indexOf('env=') + 4)
  const { rows } = await pool.query<Row>({ name: 'resolve', text, values: [environmentId, principalId] })
  const app = rows.at(-1) as Row
  const scope = {
    orgId: app.org_id,
    orgSlug: app.org_slug,
    appId: app.app_id,
    appSlug: app.app_slug,
    envId: app.environment_id,
    envSlug: app.slug,
  }
  const bytes = Buffer.from(`{"scope":${JSON.stringify(scope)},"layers":[${rows.map(layer).join(',')}]}`)
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    etag: `"${hash('sha256', bytes, 'base64url')}"`,
  })
  response.end(bytes)
}

function layer(row: Row): string {
  const group = row.group_slug === null ? '' : `"groupSlug":"${row.group_slug}",`
  const head = `"source":"${row.source}","environmentId":"${row.environment_id}","slug":"${row.slug}",${group}`
  return `{${head}"wrappedDek":"${row.wrapped_dek}","secrets":[${row.secrets}]}`
}

listen((request, response) => void resolve(request.url as string, response).catch(abort))
