import { agents } from '@skerry/contract/agents/endpoints'
import { apps } from '@skerry/contract/apps/endpoints'
import { type Feature, features, type Metric, metrics } from '@skerry/contract/billing/plans'
import { branches } from '@skerry/contract/branches/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { groups } from '@skerry/contract/groups/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { kms } from '@skerry/contract/kms/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { beforeEach, describe, expect, test } from 'vitest'
import { bearerSecret, ciphertext, publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { encryptKey } from '../../../test/kms-steps.ts'
import { newSshTarget, sshLease } from '../../../test/lease-steps.ts'
import { sinkBody } from '../../../test/log-sink-steps.ts'
import { recoveryBody } from '../../../test/recovery-steps.ts'
import { generatedRotation, newKeyedEnv } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { bindingBody, connectionBody, vaultedEnv } from '../../../test/sync-scene.ts'
import { newApp, newEnv, newGroup, newMember, signUp, type Tenant } from '../../../test/tenant.ts'
import { newConnection, newVault, returnOrigin } from '../../../test/vault-scene.ts'
import { newId, sha256 } from '../../kernel/context.ts'
import { saveOverride } from './store.ts'

// Every metric and feature of the contract has to refuse something. A refused call must be valid otherwise: with more
// quota, the same call succeeds.

const { world } = await openTenant({ SKERRY_PLANS: 'enforced' })
const { db, meter } = world.server.context

let tenant: Tenant
beforeEach(async () => {
  tenant = await signUp(world)
})

interface Answer {
  status: number
  error: { code: string; message: string } | undefined
}
type Call = () => Promise<Answer>
/** Makes what the call needs, before any limit is set. */
type Prepare = () => Promise<Call> | Call

const limit = (key: Metric | `feature.${Feature}`, value: number | boolean | null) =>
  saveOverride(
    db as never,
    { id: tenant.orgId },
    { key, value, reason: 'a test' } as Parameters<typeof saveOverride>[2],
    world.clock.now().toISOString(),
  )
const ask = (endpoint: Parameters<typeof world.call>[0], body?: object, params: object = {}): Promise<Answer> =>
  world.call(endpoint, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId, ...params },
    ...(body ? { body } : {}),
  } as never)

const anEnv = async () => newEnv(world, tenant, (await newApp(world, tenant)).id)
const newEnvBody = () => ({ name: 'Staging', slug: 'staging', wrappedDek: wrappedKey() })
const newTokenBody = () => {
  const tokenId = newId('serviceToken')
  return { tokenId, tokenHash: sha256(`${tokenId}_${bearerSecret()}`) }
}
const project = { name: 'Product', display: { name: 'Product', returnOrigins: [returnOrigin] } }

/** Calls that add one item. */
const adding = {
  members: () => () => ask(invites.create, { email: 'one@example.com' }),
  apps: () => () => ask(apps.create, { name: 'An app', slug: 'an-app' }),
  environments: async () => {
    const { id: appId } = await newApp(world, tenant)
    return () => ask(apps.createEnv, newEnvBody(), { appId })
  },
  'environments of a group': async () => {
    const { id: groupId } = await newGroup(world, tenant)
    return () => ask(groups.createEnv, newEnvBody(), { groupId })
  },
  branches: async () => {
    const { id: envId } = await anEnv()
    return () => ask(branches.create, { slug: 'pr-1', wrappedDek: wrappedKey() }, { envId })
  },
  secrets: async () => {
    const { id: envId } = await anEnv()
    return () => ask(secrets.put, { ciphertext: ciphertext() }, { envId, name: 'NAME' })
  },
  service_tokens: () => () => ask(tokens.create, { name: 'a token', publicKeyJwk: publicKeyJwk(), ...newTokenBody() }),
  honey_tokens: async () => {
    await limit('feature.honey_tokens', true)
    return () => ask(honeyTokens.create, { placement: 'a wiki', ...newTokenBody() })
  },
  'sync.connections': async () => {
    const { body } = await connectionBody(world, tenant, 'a token')
    return () => ask(sync.createConnection, body)
  },
  'leases.active': async () => {
    const { id } = await newSshTarget(world, tenant)
    return () => ask(leases.create, sshLease(id))
  },
  'rotation.policies': async () => {
    const body = await generatedRotation(world, tenant, await newKeyedEnv(world, tenant))
    return () => ask(rotation.create, body)
  },
  'kms.keys': () => () => ask(kms.create, encryptKey([tenant.admin])),
  agents: () => () => ask(agents.create, { name: 'An agent', slug: 'an-agent' }),
  'vault.projects': () => () => ask(vaultProjects.create, project),
} satisfies Record<string, Prepare>

/** Calls that use one unit of a monthly quota. */
const using = {
  resolves: async () => {
    const { id: env } = await anEnv()
    return () => world.call(resolve.get, { as: tenant.admin.as, query: { env } })
  },
  'vault.releases': async () => {
    const vault = await newVault(world, tenant)
    const params = { vaultConnectionId: await newConnection(world, vault), slot: 'api_key' as const }
    return () => world.call(vaultExecutor.release, { as: vault.executor.as, params })
  },
} satisfies Record<string, Prepare>

/** Metrics without a call here, each with the reason. */
const notHere = {
  audit_days: 'is shown and never enforced: a plan does not take entries of the trail away',
  'vault.connections.max': 'is refused on several ways to a connection, which have tests of their own',
} satisfies Partial<Record<Metric, string>>

/** Calls that need the feature. */
const featured = {
  honey_tokens: () => () => ask(honeyTokens.create, { placement: 'a wiki', ...newTokenBody() }),
  change_approval: async () => {
    const { id: envId } = await anEnv()
    return () => ask(protection.put, undefined, { envId })
  },
  recovery: async () => {
    const custodians = [await newMember(world, tenant), await newMember(world, tenant)]
    return () => ask(recovery.enable, recoveryBody(custodians, 2))
  },
  log_sink: () => () => ask(logSink.set, sinkBody()),
  agents: () => () => ask(agents.create, { name: 'An agent', slug: 'an-agent' }),
  sync: async () => {
    const { body } = await connectionBody(world, tenant, 'a token')
    return () => ask(sync.createConnection, body)
  },
  'sync by a binding': async () => {
    const env = await vaultedEnv(world, tenant)
    const { key, body: connection } = await connectionBody(world, tenant, 'a token')
    await ask(sync.createConnection, connection)
    const body = await bindingBody(key, [env], 'bound')
    return () => ask(sync.createBinding, body)
  },
  vault: () => () => ask(vaultProjects.create, project),
} satisfies Record<string, Prepare>

/** The name of a metric or feature; a row may have more words after it. */
const nameOf = (row: string) => row.split(' ')[0] as string

test('every metric and every feature of the contract has a row here, or a reason why it has none', () => {
  const [counted, had] = [[...Object.keys(adding), ...Object.keys(using)], Object.keys(featured)]
  expect(new Set([...counted, ...Object.keys(notHere)].map(nameOf))).toEqual(new Set(Object.keys(metrics)))
  expect(new Set(had.map(nameOf))).toEqual(new Set(Object.keys(features)))
})

describe('a used-up quota refuses the call by name, and a larger quota allows it:', () => {
  const refused = async (call: Call, metric: string) => {
    const { status, error } = await call()
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect(error?.message).toMatch(new RegExp(`^${metric}: the plan includes \\d+, and \\d+ are used$`))
  }

  test.each(Object.entries(adding))('%s', async (row, prepare) => {
    const metric = nameOf(row) as Metric
    // The preparation may have used some of the quota.
    const call = await prepare()
    await limit(metric, 0)
    await refused(call, metric)
    await limit(metric, null)
    expect((await call()).status).toBeLessThan(300)
  })

  test.each(Object.entries(using))('%s, once the monthly quota is used', async (metric, prepare) => {
    const call = await prepare()
    expect((await call()).status).toBe(200)
    await limit(metric as Metric, 1)
    await meter.flush()
    await refused(call, metric)
    await limit(metric as Metric, null)
    await meter.flush()
    expect((await call()).status).toBe(200)
  })
})

describe('a plan without the feature refuses the call by name, and a plan with it allows it:', () => {
  test.each(Object.entries(featured))('%s', async (row, prepare) => {
    const feature = nameOf(row) as Feature
    const call = await prepare()
    if (feature === 'honey_tokens') await limit('honey_tokens', null)
    await limit(`feature.${feature}`, false)
    const { status, error } = await call()
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect(error?.message).toMatch(new RegExp(`^feature\\.${feature}: the plan (Vault )?Free does not include it$`))
    await limit(`feature.${feature}`, true)
    expect((await call()).status).toBeLessThan(300)
  })
})
