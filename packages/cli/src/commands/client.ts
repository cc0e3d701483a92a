import type { Answer } from '@skerry/contract/endpoint'
import type { machineClients } from '@skerry/contract/machine-clients/endpoints'
import type { Command } from 'commander'
import { tellOpenChanges } from '../changes/proposer.ts'
import { findKnown } from '../find-one.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { forgetName, noteNew } from '../known-names.ts'
import { type EndLeases, endingLeases, leasesInQuestion, liveLeasesOf, settleLeases } from '../leases/outliving.ts'
import { argumentOr, confirmable, explained, formerly, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { clientCreators, openMakers } from '../tokens/made-by.ts'

type MachineClient = Answer<typeof machineClients.list>['clients'][number]

export function register(command: Command): void {
  command.description(
    'Manage machine clients: credentials of programs that administer the organization and read no secret. A machine client is named by its name. Only an admin who is signed in as a person creates and revokes them.',
  )
  leaf(command, 'ls', 'List machine clients, revoked ones too').action(inOrg(list))
  explained(
    formerly(leaf(command, 'create [name]', 'Create a machine client'), '--name <name>').usage('<name>'),
    'Its secret is printed once, to stdout.',
  ).action(inOrg(create, parseName))
  confirmable(
    leaf(command, 'rotate <client>', 'Make a new secret for a machine client; the old one stops working at once'),
  )
    .alias('renew')
    .action(signedIn(renew))
  endingLeases(
    confirmable(leaf(command, 'revoke <client>', 'Make a machine client and its access tokens invalid')),
  ).action(signedIn(revoke))
}

const parseName = (flags: Flags & { name?: string }, name: string | undefined): string =>
  argumentOr(name, flags.name, 'name of the machine client')

async function create(
  _name: string | undefined,
  { session, orgId, input: name }: InOrg<Flags, typeof parseName>,
): Promise<Output> {
  const { client, clientSecret } = await session.client.machineClients.create({
    params: { orgId },
    body: { name },
  })
  noteNew(session, orgId, { kind: 'machineClient', id: client.id, name })
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
    text: async () => {
      const creatorOf = await clientCreators(session)
      const makerOf = await openMakers(
        session,
        clients.map(({ id }) => creatorOf(id)),
      )
      writeTable(
        ['id', 'name', 'state', 'last used', 'made', 'made by'],
        clients.map((one) => [
          one.id,
          one.name,
          stateOf(one),
          shownTime(one.lastUsedAt),
          shownTime(one.createdAt),
          makerOf(creatorOf(one.id)),
        ]),
        'no machine clients yet; create one with `skerry client create <name>`',
      )
    },
  }
}

const stateOf = ({ revokedAt }: MachineClient) => (revokedAt === null ? 'active' : 'revoked')

async function find(session: Session, wanted: string): Promise<MachineClient> {
  const { id: orgId } = await session.org()
  const { clients } = await session.client.machineClients.list({ params: { orgId } })
  const active = clients.filter((one) => one.id === wanted || (one.name === wanted && one.revokedAt === null))
  return findKnown({ session, orgId }, active.length > 0 ? active : clients, wanted, {
    kind: 'machineClient',
    noun: 'machine client',
    list: 'skerry client ls',
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
      note('service tokens that it made go on working: see `skerry token ls`')
    },
  }
}

async function revoke(id: string, { session, flags }: SignedIn<Confirmable & EndLeases>): Promise<Output> {
  const found = await find(session, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, found.id), flags)
  await confirmOrRefuse(`revokes machine client ${labelOf(found)}${leases}`, flags)
  await session.client.machineClients.revoke({ params: paramsOf(found) })
  forgetName(session, found.orgId, found.id)
  note(`revoked machine client ${found.id}; service tokens that it made go on working: see \`skerry token ls\``)
  const changes = await tellOpenChanges(session, { id: found.id, label: found.name })
  const live = await settleLeases(session, { id: found.id, label: found.name }, flags)
  return { json: { revoked: found.id, leases: live, changes } }
}
