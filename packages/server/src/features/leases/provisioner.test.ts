import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { newProvisionedTarget } from '../../../test/lease-steps.ts'
import { openProvisioner } from '../../../test/provisioner-scene.ts'
import { newToken } from '../../../test/tenant.ts'

const { world, tenant, own, claim, report, jobOf, mint, read, newest, waitOut, made } = await openProvisioner()
const { orgId } = tenant
const { as } = tenant.admin

describe('a job', () => {
  test('is given only to the token that its target names', async () => {
    const other = await newToken(world, tenant, { role: 'admin' })
    const answer = mint()
    await expect.poll(async () => (await newest())?.status).toBe('pending')
    expect(await claim(other)).toBeNull()
    const job = await jobOf()
    expect((await report(job.id, { ok: true }, other)).status).toBe(404)
    expect((await report(job.id)).status).toBe(200)
    expect((await answer).status).toBe(201)
  })

  test('cannot be claimed or reported with a revoked token, and new leases of its target are refused', async () => {
    const brief = await newToken(world, tenant)
    const its = await newProvisionedTarget(world, tenant, brief, { name: 'brief' })
    const answer = mint({ targetId: its.id })
    const job = await jobOf(brief)
    await world.call(tokens.revoke, { as, params: { orgId, tokenId: brief.id } })
    const refused = await world.call(provisioner.claim, { as: brief.as, body: {} })
    expect([refused.status, (await report(job.id, { ok: true }, brief)).status]).toEqual([401, 401])
    expect((await waitOut(answer)).body.lease.status).toBe('creating')
    const next = await mint({ targetId: its.id })
    expect([next.status, next.error?.message]).toEqual([409, expect.stringContaining('provisionerTokenId')])
  })

  test('that is not reported within a minute can be claimed again, under another id', async () => {
    const answer = mint()
    const first = await jobOf()
    expect(await claim()).toBeNull()
    world.clock.advance(61)
    const second = await jobOf()
    expect(second).toMatchObject({ kind: 'create', attempt: 2, lease: { id: first.lease?.id } })
    expect((await report(first.id)).status).toBe(404)
    expect((await report(second.id)).status).toBe(200)
    expect((await read(second.lease!.id)).status).toBe('active')
    expect((await answer).status).toBe(201)
  })

  test('is given to only one of six claims at the same time', async () => {
    const answer = mint()
    await expect.poll(async () => (await newest())?.status).toBe('pending')
    const claimed = (await Promise.all(Array.from({ length: 6 }, () => claim()))).filter((job) => job !== null)
    expect(claimed).toHaveLength(1)
    await report(claimed[0]!.id)
    expect((await answer).status).toBe(201)
  })

  test('is not given to a caller who has hung up, but to the next one', async () => {
    const gone = new AbortController()
    const url = `${world.url}/v1/provisioner/jobs/claim`
    const headers = { authorization: own.token.as, 'content-type': 'application/json' }
    const arrival = arrivalAt('/v1/provisioner/jobs/claim')
    const waiting = fetch(url, { method: 'POST', headers, body: '{"waitSeconds":25}', signal: gone.signal })
    const { socket } = await arrival
    const closed = once(socket, 'close')
    gone.abort()
    await expect(waiting).rejects.toThrow()
    await closed
    await made()
  })

  test.each([
    ['a failure without a reason', { ok: false }, 'body.error: needed'],
    ['a success with a reason', { ok: true, error: { message: 'no', changedNothing: true } }, 'body.error: only where'],
    ['control characters', { ok: true, server: 'a\u001b[2J' }, 'body.server'],
  ])('reported with %s is refused, and can still be reported correctly', async (_, body, message) => {
    const answer = mint()
    const job = await jobOf()
    const refused = await report(job.id, body)
    expect([refused.status, refused.error?.message]).toEqual([400, expect.stringContaining(message)])
    await report(job.id)
    expect((await answer).status).toBe(201)
  })
})

/** Resolves with the next request for a path that arrives at the server in this process. */
function arrivalAt(path: string): Promise<IncomingMessage> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  const channel = 'http.server.request.start'
  const look = (message: unknown) => {
    const { request } = message as { request: IncomingMessage }
    if (request.url !== path) return
    unsubscribe(channel, look)
    resolve(request)
  }
  subscribe(channel, look)
  return promise
}
