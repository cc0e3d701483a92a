import { kms } from '@skerry/contract/kms/endpoints'
import { expect, test } from 'vitest'
import { openKms } from '../../../test/kms-scene.ts'
import { newToken } from '../../../test/tenant.ts'
import { keyLifecycle, type State, type Trigger } from './lifecycle.ts'

const { world, tenant, newKey, own, grant, rotate, act, trail } = await openKms()
const { admin } = tenant

/** How a key gets into each state. */
const into: Record<State, (id: string) => Promise<unknown>> = {
  enabled: async () => {},
  disabled: (id) => act(kms.disable, id),
  deleted: (id) => act(kms.delete, id),
}

/** Each trigger: its call, the status if it works and if a disabled key refuses it, and its audit action. */
const triggers: Record<
  Trigger,
  { by: (id: string) => Promise<{ status: number }>; done: number; refused: number; audits: string | null }
> = {
  use: { by: (id) => own(admin, id), done: 200, refused: 403, audits: null },
  grant: {
    by: async (id) => grant(await newToken(world, tenant), id),
    done: 201,
    refused: 409,
    audits: 'kms_grant.created',
  },
  rotate: { by: (id) => rotate(id, [admin]), done: 200, refused: 409, audits: 'kms_key.rotated' },
  disable: { by: (id) => act(kms.disable, id), done: 200, refused: 200, audits: 'kms_key.disabled' },
  enable: { by: (id) => act(kms.enable, id), done: 200, refused: 200, audits: 'kms_key.enabled' },
  delete: { by: (id) => act(kms.delete, id), done: 200, refused: 404, audits: 'kms_key.deleted' },
}

const stateNow = async (id: string): Promise<State | undefined> => {
  const row = await world.server.context.db.row<{ deleted: boolean; disabled: boolean }>(
    'select deleted_at is not null as deleted, disabled_at is not null as disabled from kms_keys where id = $1',
    [id],
  )
  return row && (row.deleted ? 'deleted' : row.disabled ? 'disabled' : 'enabled')
}

const entries = async (action: string | null, id: string) => (action === null ? 0 : (await trail(action, id)).length)

const pairs = (Object.keys(into) as State[]).flatMap((state) =>
  (Object.keys(triggers) as Trigger[]).map((trigger): [State, Trigger] => [state, trigger]),
)

test.each(pairs)('a key that is %s changes on the trigger %s only as its table says', async (state, trigger) => {
  const { id } = await newKey()
  await into[state](id)
  const { by, done, refused, audits } = triggers[trigger]
  const before = await entries(audits, id)
  const { status } = await by(id)
  const next = keyLifecycle.next(state, trigger)
  expect(status).toBe(next !== undefined ? done : state === 'deleted' ? 404 : refused)
  expect(await stateNow(id)).toBe(next ?? state)
  expect((await entries(audits, id)) - before).toBe(next !== undefined && audits !== null ? 1 : 0)
})
