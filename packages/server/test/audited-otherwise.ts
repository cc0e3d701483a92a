import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { billing } from '@skerry/contract/billing/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { newToken as wholeToken } from '@skerry/crypto/token'
import { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { closeRequests } from '../src/features/access-requests/jobs.ts'
import { archiveTrail } from '../src/features/audit-proof/archiving.ts'
import { seal } from '../src/features/audit-proof/seal.ts'
import { refresh } from '../src/features/billing/jobs.ts'
import { expireBranches } from '../src/features/branches/jobs.ts'
import { endGrants } from '../src/features/grants/jobs.ts'
import { recordTrips } from '../src/features/honey-tokens/trips.ts'
import { endDue } from '../src/features/leases/ending.ts'
import { type Ending, findEnding } from '../src/features/leases/ledger-store.ts'
import { countChildFailure } from '../src/features/leases/pause.ts'
import { recordObjects } from '../src/features/leases/tries.ts'
import { shipAll } from '../src/features/log-sink/jobs.ts'
import { linkPeople } from '../src/features/people/operating.ts'
import { expire } from '../src/features/recovery/jobs.ts'
import { runRotation } from '../src/features/rotation/run.ts'
import { failuresMax } from '../src/features/vault/webhooks/deliver.ts'
import { system } from '../src/kernel/audit.ts'
import { sha256 } from '../src/kernel/context.ts'
import { register } from '../src/operator/plan.ts'
import { register as registerSealed } from '../src/operator/sealed.ts'
import { bearerSecret, wrappedKey } from './blobs.ts'
import type { OneOfEach } from './callers.ts'
import { newSshLease, sshLease, wrappedForBroker } from './lease-steps.ts'
import { restoreHere } from './moved.ts'
import { generatedRotation, newKeyedEnv, newRotation } from './rotation-steps.ts'
import { startCollector } from './services/collector.ts'
import type { Stripe } from './services/stripe.ts'
import { newEntries } from './state.ts'
import { invitePerson, newDecoy, newMember, newPerson, newToken, signUp } from './tenant.ts'
import { until } from './until.ts'
import { openWorld, type World } from './world.ts'

export const userAgent = 'audited/1.0 (a suite)'

/** Tests the audit entries that no mutation of the contract writes. The tests run in the world of the calling suite. */
export const describeOtherwise = (scene: () => { world: World; place: OneOfEach; stripe: Stripe }) =>
  describe('an audit entry that no mutation of the contract writes', () => {
    let world: World
    let place: OneOfEach
    let stripe: Stripe
    beforeAll(() => {
      ;({ world, place, stripe } = scene())
    })

    test('records the first sign-in of a person with IP address and user agent; the person joins no organization', async () => {
      const external = await openWorld()
      const email = 'joins@example.com'
      await invitePerson(external, await signUp(external), email)
      const as = `Bearer ${await external.issuer.token({ sub: 'sub-joins', email, email_verified: true })}`
      let answer: Awaited<ReturnType<typeof signIn>> | undefined
      const signIn = () => external.call(me.get, { as, headers: { 'user-agent': userAgent } })
      const entries = await newEntries(external, async () => {
        answer = await signIn()
      })
      const id = answer?.body.principal.id
      const common = {
        actorType: 'user',
        actorId: id,
        resourceType: 'user',
        resourceId: id,
        ipAddress: '127.0.0.1',
        userAgent,
        requestId: answer?.headers.get('x-request-id'),
      }
      expect(entries).toMatchObject([
        { ...common, action: 'user.created', orgId: null, metadata: { issuer: external.issuer.url } },
      ])
      expect(await newEntries(external, signIn)).toEqual([])
      await external.close()
    })

    test('records that the operator linked another sign-in to a person, with the system as the actor', async () => {
      const { db, now } = world.server.context
      const kept = await newMember(world, place.tenant)
      const other = await newPerson(world, 'another-sign-in@example.com')
      const entries = await newEntries(world, () => linkPeople({ db, now }, kept, other))
      const { orgId } = place.tenant
      expect(entries).toMatchObject([
        { actorType: 'system', actorId: null, action: 'user.identity_linked', resourceId: kept.id, orgId },
      ])
    })

    test('records that a branch expired, with the system as the actor', async () => {
      const { orgId, admin } = place.tenant
      const params = { orgId, envId: place.params.envId as string }
      const body = { slug: 'short', ttlSeconds: 60, wrappedDek: wrappedKey() }
      const branch = await world.call(branches.create, { as: admin.as, params, body })
      world.clock.advance(61)
      const entries = await newEntries(world, () => expireBranches(world.server.context))
      const nobody = { actorType: 'system', actorId: null, ipAddress: null, userAgent: null, requestId: null }
      expect(entries).toMatchObject([{ ...nobody, action: 'branch.expired', resourceId: branch.body.branch.id, orgId }])
    })

    test('records that an organization was restored and that one of its tokens was registered again', async () => {
      const moved = await signUp(world)
      const admin = await newMember(world, moved, 'admin')
      const { id } = await newToken(world, moved)
      const params = { orgId: moved.orgId }
      const { body } = await world.call(tokens.list, { as: admin.as, params })
      const publicKeyJwk = body.tokens.find((one) => one.id === id)?.publicKeyJwk as string
      const entries = await newEntries(world, () => restoreHere(world, moved))
      expect(entries.filter(({ action }) => action === 'org.restored')).toMatchObject([
        { actorType: 'system', actorId: null, orgId: moved.orgId, resourceId: moved.orgId },
      ])
      const again = { name: 'again', tokenId: id, tokenHash: sha256(`${id}_${bearerSecret()}`), publicKeyJwk }
      const registered = await newEntries(world, () => world.call(tokens.create, { as: admin.as, params, body: again }))
      expect(registered).toMatchObject([{ action: 'token.registered', actorId: admin.id, resourceId: id }])
    })

    test('records that someone used a decoy, with IP address, user agent and the system as the actor', async () => {
      const decoy = await newDecoy(world, place.tenant)
      const entries = await newEntries(world, async () => {
        await world.call(me.get, { as: decoy.as, headers: { 'user-agent': userAgent } })
        await recordTrips(world.server.context)
      })
      const nobody = { actorType: 'system', actorId: null, ipAddress: '127.0.0.1', userAgent }
      const what = { action: 'honey_token.tripped', resourceType: 'honey_token', resourceId: decoy.id }
      expect(entries).toMatchObject([{ ...nobody, ...what, orgId: place.tenant.orgId }])
    })

    test('records that a token was sent with its private part, with IP address, user agent and the system as the actor', async () => {
      const { orgId, admin } = place.tenant
      const { token, bearer: _, privateKey: _key, format: _format, ...ids } = await wholeToken('skerry')
      await world.call(tokens.create, { as: admin.as, params: { orgId }, body: { name: 'Whole', ...ids } })
      const entries = await newEntries(world, async () => {
        await world.call(me.get, { as: `Bearer ${token}`, headers: { 'user-agent': userAgent } })
        await recordTrips(world.server.context)
      })
      const nobody = { actorType: 'system', actorId: null, ipAddress: '127.0.0.1', userAgent }
      const what = { action: 'token.exposed', resourceType: 'service_token', resourceId: ids.tokenId }
      expect(entries).toMatchObject([{ ...nobody, ...what, orgId }])
    })

    test('records that a lease failed, expired or could not be ended, and that an admin removed the last one', async () => {
      const { orgId, admin } = place.tenant
      const { db } = world.server.context
      const targetId = place.params.targetId as string
      const actionsOf = async (work: () => Promise<unknown>) =>
        (await newEntries(world, work)).map(({ action, actorType }) => [action, actorType])
      const failed = sshLease(targetId, { publicKey: 'ssh-ed25519 AAAA' })
      expect(
        await actionsOf(() => world.call(leases.create, { as: admin.as, params: { orgId }, body: failed })),
      ).toEqual([['lease.failed', 'service_token']])

      const { lease } = await newSshLease(world, place.tenant, targetId)
      await db.rows('update leases set expires_at = created_at where id = $1', [lease.id])
      expect(await actionsOf(() => endDue(world.server.context, orgId, targetId))).toEqual([
        ['lease.expired', 'system'],
      ])

      // The operator has not allowed connections to this database. The server has tried to end the lease for 2 days,
      // which is longer than its limit.
      const wrapped = await wrappedForBroker(world, place.tenant, 'redis://admin:secret@127.0.0.1:1/0')
      const config = { provider: 'redis', executor: 'in_broker', connection: { host: '127.0.0.1', port: 1, db: 0 } }
      await db.rows('update lease_targets set provider = $2, config = $3, wrapped_admin_secret = $4 where id = $1', [
        targetId,
        'redis',
        JSON.stringify({ ...config, accessLevel: 'readonly' }),
        wrapped,
      ])
      await db.rows(
        `update leases set provider = 'redis', status = 'revoking', ends_as = 'revoked', next_try_at = created_at,
              ending_since = created_at - interval '2 days' where id = $1`,
        [lease.id],
      )
      // Only leases of databases own objects. databases.test.ts asserts the rest of the entry.
      const ending = (await findEnding(db, { orgId, id: lease.id })) as Ending
      const objects = { dropped: ['function app.elevated()'], reassigned: [] }
      expect(await actionsOf(() => recordObjects(world.server.context, ending, objects))).toEqual([
        ['lease.cleaned_up', 'system'],
      ])
      expect(await actionsOf(() => endDue(world.server.context, orgId, targetId))).toEqual([
        ['lease.orphaned', 'system'],
      ])
      const crash = () => countChildFailure(world.server.context, { orgId, id: targetId }, 'it crashed')
      expect([await actionsOf(crash), await actionsOf(crash), await actionsOf(crash)]).toEqual([
        [],
        [],
        [['lease_target.paused', 'system']],
      ])

      const params = { orgId, leaseId: lease.id }
      expect(await actionsOf(() => world.call(leases.forget, { as: admin.as, params }))).toEqual([
        ['lease.forgotten', 'service_token'],
      ])
    })

    test('records that the operator archived audit entries to a file, with the system as the actor', async () => {
      const { orgId } = await signUp(world)
      const { db } = world.server.context
      await seal(world.server.context)
      const { now } = world.clock
      const path = join(await mkdtemp(join(tmpdir(), 'skerry-audited-')), 'trail.jsonl')
      const before = new Date(now().getTime() + 1000).toISOString()
      const entries = await newEntries(world, () => archiveTrail({ db, now }, { id: orgId }, { before, path }))
      expect(entries).toMatchObject([{ action: 'audit.archived', actorType: 'system', orgId, resourceId: orgId }])
      await rm(dirname(path), { recursive: true })
    })

    test('records data of a lost server key that the operator dropped, with the system as the actor', async () => {
      const { orgId } = await signUp(world)
      const { config, db } = world.server.context
      await db.rows(
        `insert into server_keypairs (org_id, purpose, owner_id, public_key_jwk, sealed_private_key, created_at)
         values ($1, 'broker', $1, '{}', 'of a lost key', now())`,
        [orgId],
      )
      const command = new Command()
      registerSealed(command, (work) => work({ config, db, print: () => {} }))
      const drop = () => command.parseAsync(['drop', '--lost', '--yes'], { from: 'user' })
      const metadata = { reason: 'lost', dropped: { broker: 1 } }
      const what = { action: 'org.sealed_data_dropped', actorType: 'system', orgId, resourceId: orgId, metadata }
      expect(await newEntries(world, drop)).toMatchObject([what])
    })

    test('records once that a recovery request expired, with the system as the actor', async () => {
      const { db } = world.server.context
      const id = place.params.recoveryRequestId
      await db.rows('update recovery_requests set expires_at = created_at where id = $1', [id])
      const what = { action: 'recovery_request.expired', resourceId: id, actorType: 'system' }
      expect(await newEntries(world, () => expire(world.server.context))).toMatchObject([what])
      expect(await newEntries(world, () => expire(world.server.context))).toEqual([])
    })

    test('records once that a request for access expired, with the system as the actor', async () => {
      const { db } = world.server.context
      const id = place.params.accessRequestId
      await db.rows('update access_requests set expires_at = created_at where id = $1', [id])
      const what = { action: 'access_request.expired', resourceId: id, actorType: 'system' }
      expect(await newEntries(world, () => closeRequests(world.server.context))).toMatchObject([what])
      expect(await newEntries(world, () => closeRequests(world.server.context))).toEqual([])
    })

    test('records once that a temporary grant ended, with the system as the actor', async () => {
      const { orgId, admin } = place.tenant
      const { id: principalId } = await newToken(world, place.tenant)
      const params = { orgId, envId: place.params.envId }
      const body = { principalType: 'service_token' as const, principalId, wrappedDek: wrappedKey(), seconds: 300 }
      const { grant } = (await world.call(grants.create, { as: admin.as, params, body })).body
      world.clock.advance(301)
      const what = { action: 'key.expired', resourceId: grant.id, actorType: 'system' }
      expect(await newEntries(world, () => endGrants(world.server.context))).toMatchObject([what])
      expect(await newEntries(world, () => endGrants(world.server.context))).toEqual([])
    })

    test('records changes by the payment provider and by the operator, with the system as the actor', async () => {
      const { orgId, admin } = place.tenant
      const { config, db } = world.server.context
      await world.call(billing.checkout, { as: admin.as, params: { orgId }, body: { family: 'platform' } })
      const id = stripe.pay(stripe.checkouts.at(-1)?.customer as string, 'price_team')
      const actionsOf = async (work: () => Promise<unknown>) =>
        (await newEntries(world, work)).map(({ action, actorType }) => [action, actorType])
      const refreshed = () => refresh.run(world.server.context, { subscriptionId: id } as never)
      expect(await actionsOf(refreshed)).toEqual([['billing.subscription_changed', 'system']])
      expect(await actionsOf(refreshed)).toEqual([])
      const operate = (...args: string[]) => {
        const command = new Command()
        register(command, (work) => work({ config, db, print: () => {} }))
        return command.parseAsync(args, { from: 'user' })
      }
      const by = (action: string) => [[action, 'system']]
      expect(await actionsOf(() => operate('assign', orgId, 'vault', 'pro'))).toEqual(by('billing.plan_assigned'))
      const reason = ['--reason', 'agreed']
      expect(await actionsOf(() => operate('set', orgId, 'apps', '99', ...reason))).toEqual(by('billing.override_set'))
      expect(await actionsOf(() => operate('unset', orgId, 'apps'))).toEqual(by('billing.override_removed'))
    })

    test('records the admin as the actor for a rotation policy and the rotator as the actor for a rotated value', async () => {
      const { tenant } = place
      const env = await newKeyedEnv(world, tenant)
      const { orgId, admin } = tenant
      const entriesOf = async (work: () => Promise<unknown>) =>
        (await newEntries(world, work)).map(({ action, actorType, actorId }) => [action, actorType, actorId]).sort()
      const [byAdmin, byRotator] = [
        ['service_token', admin.id],
        ['rotator', orgId],
      ]
      const body = await generatedRotation(world, tenant, env)
      let rotationId = ''
      const create = async (more: object) => {
        rotationId = (await newRotation(world, tenant, { ...body, ...more })).rotation.id
      }
      expect(await entriesOf(() => create({}))).toEqual([
        ['key.granted', ...byAdmin],
        ['rotation.created', ...byAdmin],
      ])
      expect(await entriesOf(() => create({ rotateNow: true }))).toEqual([
        ['rotation.completed', ...byAdmin],
        ['rotation.updated', ...byAdmin],
        ['secret.written', ...byRotator],
      ])
      const params = { orgId, rotationId }
      expect(await entriesOf(() => world.call(rotation.rotate, { as: admin.as, params }))).toEqual([
        ['rotation.completed', ...byAdmin],
        ['secret.written', ...byRotator],
      ])
      world.clock.advance(4000)
      const due = () => runRotation(world.server.context, { orgId, id: rotationId }, { origin: system, onlyDue: true })
      expect(await entriesOf(due)).toEqual([
        ['rotation.completed', ...byRotator],
        ['secret.written', ...byRotator],
      ])
      await world.call(secrets.delete, { as: admin.as, params: { orgId, envId: env.envId, name: 'ROTATED' } })
      expect(await entriesOf(() => world.call(rotation.rotate, { as: admin.as, params }))).toEqual([
        ['rotation.failed', ...byAdmin],
      ])
      expect(await entriesOf(() => world.call(rotation.delete, { as: admin.as, params }))).toEqual([
        ['key.revoked', ...byAdmin],
        ['rotation.deleted', ...byAdmin],
      ])
    })

    test('records a denied resolve once, with the caller and the environment', async () => {
      const stranger = await newMember(world, place.tenant)
      const envId = place.params.envId as string
      const ask = () =>
        world.call(resolve.get, { as: stranger.as, query: { env: envId }, headers: { 'user-agent': userAgent } })
      let requestId: string | null = null
      const entries = await newEntries(world, async () => {
        requestId = (await ask()).headers.get('x-request-id')
      })
      const who = { actorType: 'user', actorId: stranger.id, ipAddress: '127.0.0.1', userAgent, requestId }
      const what = { action: 'env.resolve_denied', resourceType: 'environment', resourceId: envId }
      expect(entries).toMatchObject([{ ...who, ...what, orgId: place.tenant.orgId }])
    })

    test('records that the vault refused to release a credential to an executor', async () => {
      const { executor, params } = place.vault
      const as = executor.as
      const entries = await newEntries(world, () =>
        world.call(vaultExecutor.release, { as, params: { ...params, slot: 'session' } }),
      )
      const what = { action: 'vault.credential.release_denied', resourceId: params.vaultConnectionId }
      expect(entries).toMatchObject([{ ...what, actorType: 'vault_executor', actorId: executor.id }])
    })

    test('records that a webhook was disabled after too many failures', async () => {
      const { as } = place.tenant.admin
      const { params } = place
      const { vaultWebhookId } = params
      const isDisabled = async () => {
        const { endpoints } = (await world.call(vaultWebhooks.list, { as, params })).body
        return endpoints.some(({ id, status }) => id === vaultWebhookId && status === 'disabled')
      }
      await world.call(vaultWebhooks.update, { as, params, body: { status: 'active' } })
      const failing = 'update vault_webhooks set failure_count = $2 where id = $1'
      await world.server.context.db.rows(failing, [vaultWebhookId, failuresMax - 1])
      const entries = await newEntries(world, async () => {
        await world.call(vaultWebhooks.redeliver, { as, params })
        await until('it is disabled', isDisabled)
      })
      expect(entries).toMatchObject([
        { action: 'vault.webhook.redelivered', actorId: place.tenant.admin.id },
        { action: 'vault.webhook.disabled', actorType: 'system', resourceId: vaultWebhookId },
      ])
    })

    test('records that a log sink was disabled because its collector refused the logs', async () => {
      const { orgId, admin } = place.tenant
      const collector = await startCollector()
      collector.answer = (response) => {
        response.writeHead(401).end()
        return false
      }
      const params = { orgId }
      await world.call(logSink.set, { as: admin.as, params, body: { endpoint: collector.url } })
      await seal(world.server.context)
      const entries = await newEntries(world, () => shipAll(world.server.context, orgId))
      expect(entries).toMatchObject([{ action: 'log_sink.disabled', actorType: 'system', resourceId: orgId }])
      await world.call(logSink.delete, { as: admin.as, params })
      await collector.close()
    })
  })
