import { publicKeyJwk } from './blobs.ts'
import type { World } from './world.ts'

/** Inserts tokens by SQL, as an organization might have them after years. */
export const seedTokens = (world: World, orgId: string, count: number) =>
  world.server.context.db.rows(
    `insert into service_tokens (org_id, id, token_hash, name, role, public_key_jwk, created_by_type, created_by_id, created_at)
     select $1, 'skt_' || substr(md5(random()::text) || md5(n::text), 1, 22), md5(random()::text) || md5(n::text),
            'deploy of service ' || n, 'member', $3, 'service_token', 'skt_seeded', $4::timestamptz - make_interval(secs => n)
       from generate_series(1, $2::int) n`,
    [orgId, count, publicKeyJwk(), world.clock.now().toISOString()],
  )
