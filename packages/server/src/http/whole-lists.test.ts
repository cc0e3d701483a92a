import { limits } from '@skerry/contract/limits'
import { tokens } from '@skerry/contract/tokens/endpoints'
import type { TObject } from 'typebox'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { seedTokens } from '../../test/many-tokens.ts'
import { openTenant } from '../../test/scene.ts'
import { stopSchedules } from '../../test/state.ts'
import { signUp, type Tenant } from '../../test/tenant.ts'
import { routes } from '../app.ts'
import { heavyReads } from './heavy-reads.ts'
import { isAnsweredWhole } from './whole-lists.ts'

// Lists that a caller asks for without a limit.

const count = 2 * limits.listMax + 500

const { world, tenant } = await openTenant()
await stopSchedules(world)
const small = await signUp(world)
const other = await signUp(world)
for (const { orgId } of [tenant, other]) await seedTokens(world, orgId, count)
const { db, heavyReads: places } = world.server.context

const list = ({ orgId, admin }: Tenant) => world.call(tokens.list, { as: admin.as, params: { orgId } })

let ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends) end()
  ends = []
  vi.restoreAllMocks()
})

/** Uses every slot of an organization for heavy reads, and every place in its queue, until the test ends. */
function fillPlaces(orgId: string): void {
  const { ofOrganization, waitingMax } = heavyReads.search
  for (let taken = 0; taken < ofOrganization + waitingMax; taken++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.push(resolve)
    places.run('search', orgId, new AbortController().signal, () => promise).catch(() => {})
  }
}

describe('a list without a limit', () => {
  test('returns every row, in order, and is read in pages', async () => {
    const reads = vi.spyOn(db, 'reads')
    const { status, body } = await list(tenant)
    expect([status, body.nextCursor, body.tokens.length]).toEqual([200, null, count + 1])
    const places = body.tokens.map(({ createdAt, id }) => `${createdAt} ${id}`)
    expect(places).toEqual(places.toSorted())
    expect(new Set(places).size).toBe(count + 1)
    // The first page is read as usual, and the others with a handle for heavy reads.
    expect(reads).toHaveBeenCalledTimes(1)
  })

  test('of less than a page needs no slot for heavy reads', async () => {
    fillPlaces(small.orgId)
    const { status, body } = await list(small)
    expect([status, body.tokens.length]).toEqual([200, 1])
  })

  test('of more than a page is refused if its organization has no free slot, and another organization is served', async () => {
    fillPlaces(tenant.orgId)
    const refused = await list(tenant)
    expect([refused.status, refused.error?.message]).toEqual([429, expect.stringContaining('too many large reads')])
    expect((await list(other)).body.tokens).toHaveLength(count + 1)
  })
})

test('every list that is answered whole has rows, a cursor, and no other field that differs between pages', () => {
  const whole = routes.filter(({ endpoint }) => isAnsweredWhole(endpoint))
  expect(whole.length).toBeGreaterThan(20)
  for (const { endpoint } of whole) {
    const { properties } = endpoint.responses[200] as TObject
    // A single value, such as the id of the caller's own session, is the same on every page.
    const kinds = Object.entries(properties).flatMap(([name, { type }]: [string, { type?: string }]) => {
      if (type === 'array') return ['rows']
      return name === 'nextCursor' || type === 'object' ? [name] : []
    })
    expect([endpoint.path, ...kinds.toSorted()]).toEqual([endpoint.path, 'nextCursor', 'rows'])
  }
})
