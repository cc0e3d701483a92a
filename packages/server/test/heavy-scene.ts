import { routes } from '../src/app.ts'
import type { HeavyRead } from '../src/http/heavy-reads.ts'
import { makeOneOfEach } from './callers.ts'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** A request for a heavy read. Every object in its path exists. */
export interface HeavyRequest {
  title: string
  method: string
  path: string
  kind: HeavyRead
}

/** The query that these routes need. */
const queries: Record<string, string> = {
  'GET /v1/orgs/:orgId/audit': 'text=zzzz',
  'GET /v1/orgs/:orgId/audit/timeline': 'text=zzzz',
  'GET /v1/orgs/:orgId/audit/proof/inclusion': `entry=aud_${'0'.repeat(22)}`,
  'GET /v1/orgs/:orgId/audit/proof/consistency': 'from=0',
}

/** Creates an organization with an object for each path parameter, and returns requests for all heavy reads. */
export async function openGreedy(world: World): Promise<{ tenant: Tenant; requests: HeavyRequest[] }> {
  const { tenant, params } = await makeOneOfEach(world)
  const requests = routes.flatMap(({ endpoint, heavy }) => {
    if (heavy === undefined) return []
    const title = `${endpoint.method} ${endpoint.path}`
    const path = endpoint.path.replace(/:(\w+)/g, (_, name) => (params as Record<string, string>)[name] as string)
    return [{ title, method: endpoint.method, path: `${path}?${queries[title] ?? ''}`, kind: heavy }]
  })
  return { tenant, requests }
}

/** Inserts audit entries by SQL, in the form that writes of secrets have. */
export const seedAudit = (world: World, orgId: string, count: number) =>
  world.server.context.db.rows(
    `insert into audit_entries (org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata,
                                ip_address, user_agent, request_id, created_at)
     select $1, 'aud_' || substr(md5(random()::text) || md5(n::text), 1, 22), 'secret.written', 'service_token',
            'skt_seeded' || n % 1000, 'secret', 'sec_seeded' || n % 1000, jsonb_build_object('name', 'SECRET_' || n),
            '127.0.0.1', 'seed', 'req_seeded' || n, $3::timestamptz - make_interval(secs => n)
       from generate_series(1, $2::int) n`,
    [orgId, count, world.clock.now().toISOString()],
  )
