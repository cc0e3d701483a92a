import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { leaseStatuses } from '@skerry/contract/leases/schemas'
import { expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { claimJob, newProvisionedTarget, newSshLease, newSshTarget } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import { newToken } from '../../../test/tenant.ts'
import { instant } from '../../kernel/context.ts'
import { moveLease, takeDue } from './ledger-store.ts'
import {
  leaseLifecycle,
  type Status,
  type TargetStatus,
  type TargetTrigger,
  type Trigger,
  targetLifecycle,
} from './lifecycle.ts'

const { world, tenant } = await openTenant()
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { db } = world.server.context

const statusOf = async (id: string) =>
  (await db.row<{ status: Status }>('select status from leases where id = $1', [id]))?.status
const put = (id: string, status: Status) => db.rows('update leases set status = $2 where id = $1', [id, status])

/** Makes a lease in this state on a target of its own. A mint takes 90 s at most, and a lease lasts ten minutes. */
async function leaseIn(status: Status) {
  const target = await newSshTarget(world, tenant)
  const { lease } = await newSshLease(world, tenant, target.id)
  await put(lease.id, status)
  return { leaseId: lease.id, targetId: target.id }
}

const triggers = [...new Set(leaseLifecycle.moves.map(([, trigger]) => trigger))]

test.each(leaseStatuses)(
  'for every trigger and state, a lease that is %s moves only along the rows of its table',
  async (from) => {
    const { leaseId } = await leaseIn(from)
    for (const trigger of triggers)
      for (const to of leaseStatuses) {
        await put(leaseId, from)
        const moved = await moveLease(db, { orgId, id: leaseId }, trigger, to)
        const isRow = leaseLifecycle.moves.some((row) => row[0] === from && row[1] === trigger && row[2] === to)
        expect([trigger, to, moved?.status, await statusOf(leaseId)]).toEqual([
          trigger,
          to,
          ...(isRow ? [to, to] : [undefined, from]),
        ])
      }
  },
)

type OnLease = Awaited<ReturnType<typeof leaseIn>>

async function due({ targetId }: OnLease, afterSeconds: number) {
  world.clock.advance(afterSeconds)
  await db.transaction((tx) => takeDue(tx, orgId, targetId, instant(world.server.context)))
  return { status: 200 }
}

/** Triggers from outside the mint and the end, each with the status of the answer when the move is refused. */
const ways = {
  cut_off: { by: (on: OnLease) => due(on, 91), refused: 200 },
  expire: {
    by: async (on: OnLease) => {
      await db.rows('update leases set created_at = expires_at where id = $1', [on.leaseId])
      return due(on, 601)
    },
    refused: 200,
  },
  forget: {
    by: ({ leaseId }: OnLease) => world.call(leases.forget, { as, params: { orgId, leaseId } }),
    refused: 409,
  },
  abandon: {
    by: ({ targetId }: OnLease) =>
      world.call(leases.deleteTarget, { as, params: { orgId, targetId }, query: { force: 'true' } }),
    refused: 200,
  },
} satisfies Partial<Record<Trigger, unknown>>

type Way = keyof typeof ways
const pairs = leaseStatuses.flatMap((state) => (Object.keys(ways) as Way[]).map((way): [Status, Way] => [state, way]))

test.each(pairs)('a lease that is %s changes on the trigger %s only as its table says', async (state, way) => {
  const on = await leaseIn(state)
  const { status } = await ways[way].by(on)
  const next = leaseLifecycle.next(state, way)
  expect(status).toBe(next === undefined ? ways[way].refused : 200)
  expect(await statusOf(on.leaseId)).toBe(next ?? state)
})

test.each(leaseStatuses)(
  'a revocation ends a lease that is %s if its table allows that, and otherwise changes nothing',
  async (state) => {
    const { leaseId } = await leaseIn(state)
    const { status } = await world.call(leases.revoke, { as, params: { orgId, leaseId } })
    // The request that makes the lease is still waiting for its target.
    if (state === 'creating') return expect([status, await statusOf(leaseId)]).toEqual([409, state])
    const ends = leaseLifecycle.next(state, 'end') !== undefined
    expect([status, await statusOf(leaseId)]).toEqual([200, ends ? 'revoked' : state])
  },
)

const token = await newToken(world, tenant)
const provisioned = await newProvisionedTarget(world, tenant, token)

async function reported(asked: Promise<unknown>, body: { ok: boolean; error?: object }) {
  const job = await claimJob(world, token)
  await world.call(provisioner.report, { as: token.as, params: { jobId: job.id }, body: body as { ok: boolean } })
  await asked
}

const inTarget = { as, params: { orgId, targetId: provisioned.id } }
const verify = () => world.call(leases.verifyTarget, inTarget)
const crashed = { ok: false, error: { message: 'it crashed', changedNothing: true, crashed: true } }
const lost = { ok: false, error: { message: 'it said no', changedNothing: true } }

const onTarget: Record<TargetTrigger, () => Promise<unknown>> = {
  reach: () => reported(verify(), { ok: true }),
  miss: () => reported(verify(), lost),
  replace: async () => {
    const asked = world.call(leases.updateTarget, { ...inTarget, body: { wrappedAdminSecret: wrappedKey() } })
    await claimJob(world, token)
    // Nobody reports the job, so the request ends after its time limit of 20 seconds.
    world.clock.advance(21)
    await asked
  },
  pause: async () => {
    for (let time = 0; time < 3; time++) await reported(verify(), crashed)
  },
}

const targetStates: Record<TargetStatus, true> = { untested: true, ready: true, failing: true, paused: true }
const targetPairs = (Object.keys(targetStates) as TargetStatus[]).flatMap((state) =>
  (Object.keys(onTarget) as TargetTrigger[]).map((trigger): [TargetStatus, TargetTrigger] => [state, trigger]),
)

test.each(targetPairs)('a target that is %s changes on the trigger %s as its table says', async (state, trigger) => {
  await db.rows('update lease_targets set status = $2, child_failures = 0 where id = $1', [provisioned.id, state])
  await onTarget[trigger]()
  const { targets } = (await world.call(leases.targets, { as, params: { orgId } })).body
  expect(targets.find(({ id }) => id === provisioned.id)?.status).toBe(targetLifecycle.next(state, trigger))
  await db.rows('delete from provisioner_jobs where target_id = $1', [provisioned.id])
})
