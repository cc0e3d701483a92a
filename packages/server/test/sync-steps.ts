import { sync } from '@skerry/contract/sync/endpoints'
import type { AppPlatform } from './services/app-platform.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { bindingBody, connectionBody, vaultedEnv, write } from './sync-scene.ts'
import type { Actor, Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Steps that create, change and delete a connection and a binding, with one run that succeeds and one that fails. */
export async function syncing(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
  platform: Pick<AppPlatform, 'token'>,
): Promise<Step[]> {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  const env = await vaultedEnv(world, tenant)
  await write(world, tenant, env, 'PUSHED', 'a value')
  const { key, body } = await connectionBody(world, tenant, platform.token)
  const binding = await bindingBody(key, [env], 'walked')
  const inConnection = only(ids, { connectionId: 'connectionId' })
  const inBinding = only(ids, { bindingId: 'bindingId' })
  const run = (action: 'sync.run_succeeded' | 'sync.run_failed', note: string) =>
    step(sync.run, action, byPerson, { note, params: inBinding, resource: keeps(ids, 'runId', 'run') })
  const bind = step(sync.createBinding, 'sync_binding.created', byToken, {
    params: only(ids, {}),
    body: () => binding,
    resource: keeps(ids, 'bindingId', 'binding'),
  })
  return [
    step(sync.createConnection, 'sync_connection.created', byToken, {
      params: only(ids, {}),
      body: () => body,
      resource: keeps(ids, 'connectionId', 'connection'),
    }),
    step(sync.verifyConnection, 'sync_connection.verified', byPerson, {
      params: inConnection,
      body: () => ({ destination: binding.destination }),
      resource: known(ids, 'connectionId'),
    }),
    bind,
    run('sync.run_succeeded', 'that succeeds'),
    step(sync.updateConnection, 'sync_connection.updated', byPerson, {
      params: inConnection,
      body: () => ({ name: 'renamed' }),
      resource: known(ids, 'connectionId'),
    }),
    step(sync.updateBinding, 'sync_binding.updated', byPerson, {
      params: inBinding,
      // The platform refuses names with this suffix, so the next run fails.
      body: () => ({ nameTransform: { suffix: '-refused' } }),
      resource: known(ids, 'bindingId'),
    }),
    run('sync.run_failed', 'that fails'),
    step(sync.deleteBinding, 'sync_binding.deleted', byToken, {
      params: inBinding,
      resource: known(ids, 'bindingId'),
    }),
    { ...bind, note: 'once more' },
    {
      endpoint: sync.deleteConnection,
      as: () => tenant.admin.as,
      params: inConnection,
      entries: () => [
        { action: 'sync_connection.deleted', resourceId: ids.connectionId as string, actor: byToken.who },
        { action: 'sync_binding.deleted', resourceId: ids.bindingId as string, actor: byToken.who },
      ],
    },
  ]
}
