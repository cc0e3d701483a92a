import { leases } from '@skerry/contract/leases/endpoints'
import { describe, expect, test } from 'vitest'
import { roleName, verifierOf } from '../../../../providers/test/leases/mint.ts'
import { wrappedKey } from '../../../test/blobs.ts'
import { provisionedConfig } from '../../../test/lease-steps.ts'
import { failure, openProvisioner } from '../../../test/provisioner-scene.ts'
import { auditRows, newEntries } from '../../../test/state.ts'
import { newToken, signUp } from '../../../test/tenant.ts'
import { endDue } from './ending.ts'

const { world, tenant, own, claim, report, jobOf, mint, read, newest, waitOut, made } = await openProvisioner()
const { orgId } = tenant
const { as } = tenant.admin
const params = { orgId }
const { context } = world.server

const stored = async () => (await world.call(leases.targets, { as, params })).body.targets
const revoke = (leaseId: string) => world.call(leases.revoke, { as, params: { orgId, leaseId } })

describe('a target of a provisioner', () => {
  test('is untested until its provisioner reports, and never shows its credential to others', async () => {
    const name = 'checked'
    const body = { name, config: provisionedConfig(own.token.id), wrappedAdminSecret: wrappedKey() }
    const asked = world.call(leases.createTarget, { as, params, body })
    const job = await jobOf()
    expect(job).toMatchObject({ kind: 'verify', attempt: 1, lease: null, target: { name } })
    expect(job.target.wrappedAdminSecret).toMatch(/^wd1\./)
    const shown = await stored()
    expect(shown.find((one) => one.name === name)).toMatchObject({ status: 'untested', server: null })
    expect(JSON.stringify(shown)).not.toContain('wd1.')
    await report(job.id, { ok: true, server: 'PostgreSQL 17.1', notes: ['a note'] })
    expect((await asked).body.target).toMatchObject({ status: 'ready', server: 'PostgreSQL 17.1', notes: ['a note'] })
    expect((await auditRows(world)).at(-1)).toMatchObject({
      action: 'lease_target.verified',
      actorType: 'service_token',
      actorId: own.token.id,
    })
  })

  test('is answered as untested if its provisioner does not report', async () => {
    const body = { name: 'alone', config: provisionedConfig(own.token.id), wrappedAdminSecret: wrappedKey() }
    const asked = world.call(leases.createTarget, { as, params, body })
    await expect.poll(async () => (await stored()).map(({ name }) => name)).toContain('alone')
    expect((await waitOut(asked)).body.target).toMatchObject({ status: 'untested', lastError: null, server: null })
    const { id } = await jobOf()
    await report(id)
  })

  test('shows the error that its provisioner reported', async () => {
    const answer = world.call(leases.verifyTarget, { as, params: { orgId, targetId: own.target.id } })
    const job = await jobOf()
    await report(job.id, failure(true))
    expect((await answer).body.target).toMatchObject({ status: 'failing', lastError: 'target: it said no' })
  })

  test('with the token of another organization is refused, and is not stored', async () => {
    const foreign = await newToken(world, await signUp(world))
    const config = provisionedConfig(foreign.id)
    const body = { name: 'foreign', config, wrappedAdminSecret: wrappedKey() }
    const answer = await world.call(leases.createTarget, { as, params, body })
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringContaining('provisionerTokenId')])
    expect((await stored()).map(({ name }) => name)).not.toContain('foreign')
  })

  test('with a new credential is checked again, by a job that contains the new credential', async () => {
    const wrappedAdminSecret = wrappedKey()
    const answer = world.call(leases.updateTarget, {
      as,
      params: { orgId, targetId: own.target.id },
      body: { wrappedAdminSecret },
    })
    const job = await jobOf()
    expect(job.target).toMatchObject({ id: own.target.id, wrappedAdminSecret })
    await report(job.id, { ok: true, server: 'PostgreSQL 17.1' })
    expect((await answer).body.target.status).toBe('ready')
  })
})

describe('a lease that a provisioner makes', () => {
  test('is answered once it is made, and its verifier is then deleted', async () => {
    const name = roleName()
    const verifier = verifierOf.postgres('one')
    const answer = mint({ roleName: name, verifier })
    const job = await jobOf()
    expect(job).toMatchObject({ kind: 'create', lease: { resourceRef: name, verifier } })
    expect((await read(job.lease!.id)).status).toBe('creating')
    await report(job.id)
    const { status, body } = await answer
    expect(status).toBe(201)
    expect(body.connection).toMatchObject({ host: 'db.internal', port: 5432, database: 'shop', username: name })
    expect(await context.db.rows('select 1 from provisioner_jobs where target_id = $1', [own.target.id])).toEqual([])
    const entries = (await auditRows(world)).filter(({ resourceId }) => resourceId === body.lease.id)
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['lease.requested', tenant.admin.id],
      ['lease.created', own.token.id],
    ])
  })

  test('is answered as pending after 20 seconds, and becomes active later', async () => {
    const answer = mint()
    await expect.poll(async () => (await newest())?.status).toBe('pending')
    const { status, body } = await waitOut(answer)
    expect([status, body.lease.status]).toEqual([201, 'pending'])
    const job = await jobOf()
    await report(job.id)
    expect((await read(body.lease.id)).status).toBe('active')
  })

  test('fails if its provisioner reports that nothing changed on the target', async () => {
    const answer = mint()
    const job = await jobOf()
    await report(job.id, failure(true))
    const { status, error } = await answer
    expect([status, error?.message]).toEqual([409, 'target: it said no'])
    expect(await read(job.lease!.id)).toMatchObject({ status: 'failed', lastError: 'target: it said no' })
    expect(await claim()).toBeNull()
  })

  test.each([
    ['that may be half made', 1, false],
    ['that fails at its second attempt, even if that changed nothing,', 2, true],
  ])('%s is removed twice before it counts as failed', async (_, attempts, changedNothing) => {
    const answer = mint()
    let job = await jobOf()
    for (let attempt = 1; attempt < attempts; attempt++) {
      // Set in the database: if the clock moved, the request would stop waiting for the lease.
      await context.db.rows('update provisioner_jobs set claimed_until = created_at where id = $1', [job.id])
      job = await jobOf()
    }
    await report(job.id, failure(changedNothing))
    expect((await read(job.lease!.id)).status).toBe('revoking')
    const removal = await jobOf()
    expect(removal).toMatchObject({ kind: 'revoke', lease: { id: job.lease?.id, verifier: null } })
    await report(removal.id)
    const { status, error } = await answer
    expect([status, error?.message]).toEqual([409, 'target: it said no'])
    // Its statement may still be waiting on the target.
    expect((await read(job.lease!.id)).status).toBe('revoking')
    expect(await claim()).toBeNull()
    world.clock.advance(91)
    await endDue(context, orgId, own.target.id)
    const again = await jobOf()
    expect(again).toMatchObject({ kind: 'revoke', lease: { id: job.lease?.id } })
    await report(again.id)
    expect(await read(job.lease!.id)).toMatchObject({ status: 'failed', lastError: 'target: it said no' })
  })

  test('that nobody claims fails after 90 seconds, and is not made later', async () => {
    const answer = mint()
    await expect.poll(async () => (await newest())?.status).toBe('pending')
    const { body } = await waitOut(answer)
    world.clock.advance(91)
    await endDue(context, orgId, own.target.id)
    expect(await read(body.lease.id)).toMatchObject({
      status: 'failed',
      lastError: 'the target was not reached in time',
    })
    expect(await claim()).toBeNull()
  })

  test('that is revoked while it is made, and whose mint got no answer, is removed twice', async () => {
    const answer = mint()
    const job = await jobOf()
    void revoke(job.lease!.id)
    await expect.poll(async () => (await read(job.lease!.id)).status).toBe('revoking')
    await report(job.id, failure(false))
    await report((await jobOf()).id)
    expect((await read(job.lease!.id)).status).toBe('revoking')
    world.clock.advance(91)
    await endDue(context, orgId, own.target.id)
    await report((await jobOf()).id)
    expect((await read(job.lease!.id)).status).toBe('revoked')
    await answer
  })

  test('is removed by its provisioner when it is revoked', async () => {
    const lease = await made()
    const answer = revoke(lease.id)
    const job = await jobOf()
    expect(job).toMatchObject({ kind: 'revoke', lease: { id: lease.id, resourceRef: lease.resourceRef } })
    await report(job.id)
    expect((await answer).body.lease).toMatchObject({ status: 'revoked', lastError: null })
  })

  test('gets an audit entry that names the objects that its provisioner dropped or reassigned', async () => {
    const lease = await made()
    const answer = revoke(lease.id)
    const job = await jobOf()
    const objects = { dropped: ['function public.elevated()'], reassigned: ['table public.built'] }
    const entries = await newEntries(world, async () => {
      await report(job.id, { ...failure(false), ...objects })
    })
    expect(entries).toMatchObject([
      { action: 'lease.cleaned_up', actorType: 'system', resourceId: lease.id, metadata: objects },
    ])
    expect((await waitOut(answer)).body.lease).toMatchObject({ status: 'revoking', lastError: 'target: it said no' })
  })

  test('that is revoked before its provisioner claims it is not made', async () => {
    const answer = mint()
    await expect.poll(async () => (await newest())?.status).toBe('pending')
    expect((await revoke((await newest())!.id)).body.lease.status).toBe('revoked')
    expect(await claim()).toBeNull()
    expect((await waitOut(answer)).status).toBe(409)
  })

  test('that is revoked while it is made is removed only after the mint is reported', async () => {
    const answer = mint()
    const job = await jobOf()
    const revoked = revoke(job.lease!.id)
    await expect.poll(async () => (await read(job.lease!.id)).status).toBe('revoking')
    expect(await claim()).toBeNull()
    await report(job.id)
    const removal = await jobOf()
    expect(removal.kind).toBe('revoke')
    await report(removal.id)
    expect((await revoked).body.lease.status).toBe('revoked')
    await answer
  })

  test('is removed when it expires, and again if the first removal fails', async () => {
    const lease = await made({ ttlSeconds: 60 })
    world.clock.advance(61)
    await endDue(context, orgId, own.target.id)
    const first = await jobOf()
    expect(first).toMatchObject({ kind: 'revoke', lease: { id: lease.id } })
    await report(first.id, failure(false))
    expect(await read(lease.id)).toMatchObject({ status: 'revoking', lastError: 'target: it said no' })
    world.clock.advance(30)
    await endDue(context, orgId, own.target.id)
    await report((await jobOf()).id)
    expect((await read(lease.id)).status).toBe('expired')
    expect((await auditRows(world)).at(-1)).toMatchObject({ action: 'lease.expired', resourceId: lease.id })
  })

  test('is orphaned if its provisioner is away for a day, and its job is then gone', async () => {
    const lease = await made({ ttlSeconds: 60 })
    world.clock.advance(61)
    await endDue(context, orgId, own.target.id)
    expect((await read(lease.id)).status).toBe('revoking')
    world.clock.advance(25 * 3600)
    await endDue(context, orgId, own.target.id)
    expect((await read(lease.id)).status).toBe('orphaned')
    expect(await claim()).toBeNull()
  })
})
