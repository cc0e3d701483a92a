import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { parseToken } from '@skerry/crypto/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSshLease, newSshTarget } from '../../server/test/lease-steps.ts'
import type { Tenant } from '../../server/test/tenant.ts'
import { call, type World } from '../../server/test/world.ts'
import { type Machine, signedUp } from './machine.ts'
import { newPersonMachine, ok, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// The leases here are SSH certificates, which need no running service and cannot be revoked.

let server: PeopleServer
let machine: Machine
let admin: PersonMachine
let tenant: Tenant
let targetId: string

const send: World['call'] = (endpoint, input) => call(server.url, [], endpoint, input)
const world = { call: send } as World

beforeAll(async () => {
  server = await openPeopleServer()
  machine = await signedUp(server.url, 'Outliving')
  const { profiles, current } = JSON.parse(await ok(machine, 'cat $HOME/.config/skerry/credentials.json'))
  const { org, token } = profiles[current]
  tenant = { orgId: org.id, admin: { as: `Bearer ${(await parseToken(token)).bearer}` } } as Tenant
  targetId = (await newSshTarget(world, tenant)).id
  admin = await newPersonMachine(server, 'admin@example.com')
  await join(admin)
})
afterAll(async () => {
  await machine?.remove()
  await admin?.remove()
  await server?.close()
})

/** Makes a person an admin, and returns the credential. */
async function join({ email, env }: PersonMachine): Promise<string> {
  const as = `Bearer ${env.SKERRY_TOKEN}`
  const body = { email, role: 'admin' as const }
  await send(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  const [invite] = (await send(ownInvites.list, { as })).body.invites
  await send(ownInvites.accept, { as, params: { inviteId: invite?.id as string } })
  return as
}

const lease = (as: string) => newSshLease(world, { ...tenant, admin: { ...tenant.admin, as } }, targetId)
const lasting = expect.stringMatching(/\(lse_\w+\) cannot be revoked: it works until/)

test('skerry members rm names the leases that the person still has', async () => {
  const guest = await newPersonMachine(server, 'guest@example.com')
  await lease(await join(guest))
  await guest.remove()
  const asked = await admin.shell(`skerry members rm ${guest.email}`)
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('leaves its lease usable')])
  expect(await admin.shell(`skerry members rm ${guest.email} --yes`)).toMatchObject({ code: 0, stderr: lasting })
})

test('skerry client revoke names the leases that the machine client still has', async () => {
  const { client, clientSecret } = JSON.parse(await admin.ok('skerry client create robot --json'))
  await lease(`Basic ${Buffer.from(`${client.id}:${clientSecret}`).toString('base64')}`)
  const asked = await admin.shell(`skerry client revoke ${client.id}`)
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('leaves its lease usable')])
  expect(await admin.shell(`skerry client revoke ${client.id} --yes`)).toMatchObject({ code: 0, stderr: lasting })
})
