import { createHash } from 'node:crypto'
import pg from 'pg'
import { bearerSecret, ciphertext, wrappedKey } from '../../packages/server/test/blobs.ts'
import { newBearer, request } from './tenant.ts'

/** A vault project with connections, and the credentials of its callers. */
export interface BenchVault {
  orgId: string
  /** The bearer tokens of the platform and of the executor. */
  platform: string
  executor: string
  /** The ids of some of its connections. */
  connectionIds: string[]
}

/** Fills a migrated database with one project, by SQL over sets. */
export async function makeVault(databaseUrl: string, connectionCount: number, idCount: number): Promise<BenchVault> {
  const org = newBearer().id.replace('skt_', 'org_')
  const platform = `skv_${bearerSecret()}`
  const executor = `skx_${bearerSecret()}`
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    await client.query(organization, [org])
    await client.query(project, [org])
    await client.query(platformKey, [org, hashOf(platform)])
    await client.query(executors, [org, hashOf(executor)])
    await client.query(wrappingKey, [org])
    await client.query(connections, [org, connectionCount])
    await client.query(credentials, [org, ciphertext(48).slice(0, -12), wrappedKey()])
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    const { rows } = await client.query<{ id: string }>('select id from vault_connections order by random() limit $1', [
      idCount,
    ])
    return { orgId: org, platform, executor, connectionIds: rows.map(({ id }) => id) }
  } finally {
    await client.end()
  }
}

export const pathOf = (connectionId: string) => `/v1/vault/executor/connections/${connectionId}/credentials/api_key`

export const releases = ({ executor, connectionIds }: BenchVault): string[] =>
  connectionIds.map((id) => request('GET', pathOf(id), executor))

const hashOf = (bearer: string) => createHash('sha256').update(bearer).digest('base64url')

const id = (prefix: string) => `${prefix}_${'0'.repeat(22)}`

const organization = `insert into organizations (id, name, slug, created_at, updated_at) values ($1, 'Org', 'org', now(), now())`

const project = `
  insert into vault_projects (org_id, id, name, display, status, created_at, updated_at)
  values ($1, '${id('vpj')}', 'Project', '{"name":"Project","logoUrl":null,"accent":null,"returnOrigins":[]}', 'active',
          now(), now())`

const platformKey = `
  insert into vault_keys (org_id, id, project_id, name, key_hash, created_by_id, created_at)
  values ($1, '${id('vky')}', '${id('vpj')}', 'backend', $2, '${id('usr')}', now())`

const executors = `
  insert into vault_executors (org_id, id, project_id, origin, catalog, sdk_version, credential_hash, status, created_at,
                               updated_at)
  values ($1, '${id('vex')}', '${id('vpj')}', 'https://executor.example.com', '{"providers":[]}', 'bench', $2, 'active',
          now(), now())`

const thumbprint = '0'.repeat(43)

const wrappingKey = `
  insert into vault_wrapping_keys (org_id, executor_id, thumbprint, jwk, current, created_at)
  values ($1, '${id('vex')}', '${thumbprint}', '{}', true, now())`

/** Real ids are random. These ids are spread over the indexes in the same way. */
const connections = `
  insert into vault_connections (org_id, id, project_id, user_ref, provider_id, provider_name, method, status,
                                 consented_at, consent_version, created_at, updated_at)
  select $1, 'vcn_' || substr(md5('vcn' || n), 1, 22), '${id('vpj')}', 'user-' || n, 'acme', 'Acme', 'api_key', 'active',
         now(), 1, now(), now()
    from generate_series(1, $2::int) n`

const credentials = `
  insert into vault_credentials (org_id, connection_id, slot, revision, ciphertext, wrapped_dek, key_thumbprint,
                                 created_at)
  select org_id, id, 'api_key', 1, $2 || substr(md5(id), 1, 12), $3, '${thumbprint}', now()
    from vault_connections where org_id = $1`
