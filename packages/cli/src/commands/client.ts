import type { Answer } from '@skerry/contract/endpoint'
import type { machineClients } from '@skerry/contract/machine-clients/endpoints'
import type { Command } from 'commander'
import { findOne } from '../find-one.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { type EndLeases, endingLeases, leasesInQuestion, liveLeasesOf, settleLeases } from '../leases/outliving.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'

type MachineClient = Answer<typeof machineClients.list>['clients'][number]

export function register(command: Command): void {
  leaf(command, 'create', 'Make a machine client; its secret is shown once, on stdout')
    .requiredOption('--name <name>', 'what it is for')
    .action(inOrg(create))
  leaf(command, 'list', 'List machine clients, revoked ones too').action(inOrg(list))
  confirmable(leaf(command, 'renew <client>', 'Give a machine client a new secret; the old one ends at once')).action(
    signedIn(renew),
  )
  endingLeases(confirmable(leaf(command, 'revoke <client>', 'End a machine client and its access tokens'))).action(
    signedIn(revoke),
  )
  command.addHelpText(
    'after',
    `
A machine client is named by its id, or by a name that only one has. It administers the organization and holds no key. Admins make and end them in person: no token and no
machine client can.`,
  )
}

async function create({ session, flags, orgId }: InOrg<Flags & { name: string }>): Promise<Output> {
  const { client, clientSecret } = await session.client.machineClients.create({
    params: { orgId },
    body: { name: flags.name },
  })
  return {
    json: { client, clientSecret },
    text: () => writeLine(clientSecret),
    after: () => {
      note(`made machine client ${client.id}; its secret is shown this once`)
      note('give a program both as SKERRY_CLIENT_ID and SKERRY_CLIENT_SECRET, or sign a machine in with')
      note(`  \`skerry login --client-id ${client.id}\``)
    },
  }
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { clients } = await session.client.machineClients.list({ params: { orgId } })
  return {
    json: { clients },
    text: () =>
      writeTable(
        ['id', 'name', 'state', 'last used', 'made'],
        clients.map((one) => [one.id, one.name, stateOf(one), one.lastUsedAt ?? 'never', one.createdAt]),
      ),
  }
}

const stateOf = ({ revokedAt }: MachineClient) => (revokedAt === null ? 'active' : 'revoked')

async function find(session: Session, wanted: string): Promise<MachineClient> {
  const { id: orgId } = await session.org()
  const { clients } = await session.client.machineClients.list({ params: { orgId } })
  const active = clients.filter((one) => one.id === wanted || (one.name === wanted && one.revokedAt === null))
  return findOne(active.length > 0 ? active : clients, wanted, {
    kind: 'machineClient',
    noun: 'machine client',
    list: 'skerry client list',
    nameOf: ({ name }) => name,
  })
}

const labelOf = ({ id, name }: MachineClient) => `${id} (${name})`
const paramsOf = ({ orgId, id }: MachineClient) => ({ orgId, clientId: id })

async function renew(id: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const found = await find(session, id)
  await confirmOrRefuse(`replaces the secret of machine client ${labelOf(found)}`, flags)
  const { client, clientSecret } = await session.client.machineClients.renewSecret({ params: paramsOf(found) })
  return {
    json: { client, clientSecret },
    text: () => writeLine(clientSecret),
    after: () => {
      note(
        `machine client ${client.id} has another secret, shown this once; the old one and its access tokens have ended`,
      )
      note('service tokens that it made go on working: see `skerry token list`')
    },
  }
}

async function revoke(id: string, { session, flags }: SignedIn<Confirmable & EndLeases>): Promise<Output> {
  const found = await find(session, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, found.id), flags)
  await confirmOrRefuse(`revokes machine client ${labelOf(found)}${leases}`, flags)
  await session.client.machineClients.revoke({ params: paramsOf(found) })
  note(`revoked machine client ${found.id}; service tokens that it made go on working: see \`skerry token list\``)
  const live = await settleLeases(session, { id: found.id, label: found.name }, flags)
  return { json: { revoked: found.id, leases: live } }
}
