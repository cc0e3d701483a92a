import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import pg from 'pg'
import { abort, given, listen } from './listen.ts'

// Releases a credential with the two queries that are always needed: one for the caller and one for the credential.
// Both are prepared, and sent one after the other. No router, no checks of form or state, no audit, no meter; the same
// answer, byte for byte.

const { databaseUrl, poolSize } = await given<{ databaseUrl: string; poolSize: number }>()
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize })

const asking = `select org_id, id, project_id from vault_executors where credential_hash = $1 and status = 'active'`

const stored = `
  select c.provider_id, c.status, p.status as project_status, v.revision, v.ciphertext, v.wrapped_dek, v.key_thumbprint,
         exists (select from vault_wrapping_keys w
                  where w.org_id = $1 and w.executor_id = $4 and w.thumbprint = v.key_thumbprint) as own
    from vault_connections c
    join vault_projects p on p.org_id = c.org_id and p.id = c.project_id
    left join vault_credentials v on v.org_id = c.org_id and v.connection_id = c.id and v.slot = $5
   where c.org_id = $1 and c.project_id = $2 and c.id = $3
   order by v.revision desc nulls last limit 1`

async function release(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , , , , connectionId, , slot] = (request.url as string).split('/')
  const bearer = (request.headers.authorization as string).slice('Bearer '.length)
  const hash = createHash('sha256').update(bearer).digest('base64url')
  const [by] = (await pool.query({ name: 'asking', text: asking, values: [hash] })).rows
  const values = [by.org_id, by.project_id, connectionId, by.id, slot]
  const [row] = (await pool.query({ name: 'stored', text: stored, values })).rows
  const place = { projectId: by.project_id, connectionId, providerId: row.provider_id, slot, revision: row.revision }
  const sealed = { ciphertext: row.ciphertext, wrappedDek: row.wrapped_dek, keyThumbprint: row.key_thumbprint }
  const bytes = Buffer.from(JSON.stringify({ credential: { ...place, ...sealed } }))
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length })
  response.end(bytes)
}

listen((request, response) => void release(request, response).catch(abort))
