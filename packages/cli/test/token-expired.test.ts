import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../../server/test/world.ts'
import { type Machine, signedUp } from './machine.ts'
import { ok as okOn } from './people.ts'

let world: World
let machine: Machine
const ok = (command: string): Promise<string> => okOn(machine, command)

beforeAll(async () => {
  world = await openWorld()
  machine = await signedUp(world.url, 'Expired Org')
})
afterAll(async () => {
  await machine?.remove()
  await world?.close()
})

test('an expired token is listed as expired, and the server refuses it', async () => {
  const token = (await ok('skerry token create short --expires 1h')).trim()
  const listed = await ok('skerry token ls')
  expect(listed).toMatch(/^short +member +until \S+ /m)
  const [, id] = /^short .* (skt_\w+)$/m.exec(listed) ?? []
  const expired = await world.server.context.db.rows(
    `update service_tokens set expires_at = '2026-01-02T03:04:05Z', expires_at_given = '2026-01-02T03:04:05Z' where id = $1 returning 1`,
    [id],
  )
  expect(expired).toHaveLength(1)
  expect(await ok('skerry token ls')).toMatch(/^short +member +expired +shop\/development +never +\S.* +skt_\w{22}$/m)
  expect(await ok(`skerry token show ${id}`)).toMatch(
    / \(short\)\nmember, expired, created \S+, last used never\nmade by .+\nbound to shop\/development\nhad the key of shop\/development\n/,
  )
  machine.env.SKERRY_TOKEN = token
  const { code, stderr } = await machine.shell('skerry secrets ls')
  const next =
    `the token ${id} may have expired or been revoked: an admin can look it up with \`skerry token show ${id}\`; ` +
    'create another with `skerry token create`, and set SKERRY_TOKEN to it'
  expect([code, stderr]).toEqual([3, `skerry: unknown service token; ${next}\n`])
})
