import type { Answer } from '@skerry/contract/endpoint'
import type { endpoints } from '@skerry/contract/endpoints'
import { idPattern } from '@skerry/contract/prefixes'
import { type Command, Option } from 'commander'
import { checkPlanning, planAccess } from '../access-plan.ts'
import { findNamed } from '../current-place.ts'
import { openDirectory, principalIdOf } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { parseGrantTime } from '../grant-time.ts'
import { grantAll, lookUpGrantee, openPlace } from '../grants.ts'
import { heldLabel, listAccess } from '../holdings.ts'
import { completeAccess } from '../missing-grants.ts'
import { orNearest } from '../nearest.ts'
import { accepting, confirmable, explained, gather, leaf, reasoned } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { checkNames } from '../places.ts'
import { typeName } from '../principals.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptGrant } from '../readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { formatDuration } from '../units.ts'

type AccessRequest = Answer<typeof endpoints.accessRequests.get>['request']
type Completing = Flags & Confirmable & ReaderFlags & { member?: string[] }
interface Reason {
  reason?: string
}
interface Span {
  for?: string
}

export function register(command: Command): void {
  explained(
    command,
    'A member asks for environments. An admin who can read them grants the request: with `skerry access grant`, in the dashboard, or with any `skerry grant`. The server gives nobody a key.',
  )
  reasoned(
    explained(
      leaf(command, 'ask <environments...>', 'Ask for access to environments'),
      'Name each environment as app/env or group:env.',
    ),
    'reason',
    'reason for the admins and the audit log; the server can read it',
  )
    .option('--for <duration>', 'how long you need access, for example 8h or 7d; the server then ends it')
    .action(signedIn(askFor, parseSpan))
  explained(
    leaf(command, 'ls', 'List requests for access'),
    'An admin sees the requests of everyone. A member sees their own requests.',
  )
    .addOption(
      new Option('--status <status>', 'only requests with this status')
        .choices(['open', 'closed', 'any'])
        .default('open'),
    )
    .action(inOrg(list))
  explained(
    accepting(confirmable(leaf(command, 'grant <request>', 'Grant a request for access'))),
    'The access ends after the time that the person asked for. Give another time with --for.',
  )
    .option('--for <duration>', 'the server ends the access after this time, for example 8h or 7d')
    .action(inOrg(grant, parseSpan))
  explained(
    accepting(
      confirmable(
        leaf(
          command,
          'complete [environments...]',
          'Give people the keys that teams and plans say they should have, if you have these keys',
        ),
      ),
    ),
    'Name environments as app/env or group:env. With --yes, name the environments and the people.',
  )
    .option('--member <member>', 'give only the keys for this person; repeatable', gather)
    .action(inOrg(complete, checkComplete))
  explained(
    leaf(
      command,
      'plan <member> [environments...]',
      'Show or change which environments a person should be able to read, besides the environments of their teams',
    ),
    'Plan an environment that you cannot read: an admin who can grants its key later. Name environments as app/env or group:env. For admins.',
  )
    .option('--remove', 'take the environments out of the plan')
    .action(inOrg(planAccess, checkPlanning))
  reasoned(
    leaf(command, 'decline <request>', 'Decline a request for access'),
    'reason',
    'reason for the person who asked; the server can read it',
  ).action(inOrg(decline))
  explained(
    leaf(
      command,
      'map [holder]',
      'List who can read which environment, or only the environments of one person or token',
    ),
    'For admins. A holder is the e-mail address of a member or the name of a token; without one, everyone is listed.',
  )
    .option('--branches', 'also list branches')
    .action(inOrg(map))
  leaf(command, 'withdraw <request>', 'Withdraw your own request for access').action(inOrg(withdraw))
}

const parseSpan = (flags: Flags & Span): number | undefined => parseGrantTime(flags.for)

async function askFor(
  named: string[],
  { session, flags, input: forSeconds }: SignedIn<Flags & Reason & Span, typeof parseSpan>,
): Promise<Output> {
  const places = await Promise.all(named.map((name) => findNamed(session, name, flags)))
  const { id: orgId } = await session.org()
  const environmentIds = [...new Set(places.map(({ envId }) => envId))]
  const body = {
    environmentIds,
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(forSeconds === undefined ? {} : { forSeconds }),
  }
  const { request } = await session.client.accessRequests.create({ params: { orgId }, body })
  note(`asked for ${places.map(({ label }) => label).join(', ')}; the admins were told`)
  return { json: { request }, text: () => writeLine(request.id) }
}

async function list({
  session,
  flags: { status },
  orgId,
}: InOrg<Flags & { status: 'open' | 'closed' | 'any' }>): Promise<Output> {
  const query = status === 'any' ? {} : { status }
  const { requests, open } = await session.client.accessRequests.list({ params: { orgId }, query })
  return {
    json: { requests, open },
    text: async () => {
      const nameOf = await namesOf(session, requests)
      writeTable(
        ['by', 'asks for', 'how long', 'status', 'reason', 'at', 'id'],
        requests.map((one) => [
          nameOf(one),
          one.environments.map(({ label, granted }) => (granted ? `${label} (granted)` : label)).join(', '),
          // A server of an earlier release does not send a time.
          one.forSeconds ? formatDuration(one.forSeconds) : '',
          one.status,
          one.reason ?? '',
          shownTime(one.createdAt),
          one.id,
        ]),
        'nobody asks for access; members ask with `skerry access ask <env>`',
      )
    },
  }
}

async function grant(
  wanted: string,
  { session, flags, orgId, input }: InOrg<Flags & Confirmable & ReaderFlags & Span, typeof parseSpan>,
): Promise<Output> {
  const request = await find(session, orgId, wanted)
  const missing = request.environments.filter(({ granted }) => !granted)
  const [held, others] = [missing.filter((one) => one.held), missing.filter((one) => !one.held)]
  if (held.length === 0) throw noKeys(others)
  const { name, wantedName: _, ...grantee } = await lookUpGrantee(session, { user: request.userId })
  // The server says whose request it is. A name that the user wrote must be one that this machine knows the person by.
  const wantedName = isRequestId(wanted) ? undefined : wanted
  const named = held.map(({ environmentId: envId, label }) => ({ envId, label }))
  await checkNames(session, orgId, named)
  const places = await Promise.all(named.map(({ envId, label }) => openPlace(session, orgId, envId, label)))
  const receiver = { ...grantee, name, wantedName }
  const keep = await acceptGrant(session, { labels: held.map(({ label }) => label), grantee: receiver }, flags)
  keep()
  const seconds = input ?? request.forSeconds ?? undefined
  const { granted } = await grantAll(session, places, grantee, seconds)
  const span = seconds === undefined ? '' : ` for ${formatDuration(seconds)}`
  for (const label of granted) note(`granted ${label} to ${name}${span}`)
  if (others.length > 0) note(`you do not have the key of ${labelsOf(others)}; another admin must grant the rest`)
  return { json: { request: request.id, granted, left: others.map(({ label }) => label) } }
}

async function map(
  wanted: string | undefined,
  { session, orgId, flags }: InOrg<Flags & { branches?: boolean }>,
): Promise<Output> {
  const access = await listAccess(session, orgId, { branches: flags.branches === true })
  const holderId = wanted === undefined ? undefined : await principalIdOf(session, wanted, 'the holder')
  const rows = access.filter(({ principalId }) => holderId === undefined || principalId === holderId)
  return {
    json: { access: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ principalId }) => principalId),
      )
      writeTable(
        ['holder', 'type', 'can read', 'id'],
        [...Map.groupBy(rows, ({ principalId }) => principalId)].map(([id, held]) => [
          nameOf(id) ?? id,
          typeName(held[0]!.principalType),
          held.map(heldLabel).sort().join(', '),
          id,
        ]),
      )
    },
  }
}

/** The server lists the missing keys, so `--yes` grants only pairs of an environment and a person that the user names. */
function checkComplete({ yes, member }: Completing, environments: string[]): void {
  if (yes && (environments.length === 0 || member === undefined))
    throw usage('--yes grants only keys that you name', 'name the environments, and the people with --member')
}

async function complete(
  named: string[],
  { session, flags: { member, ...flags }, orgId }: InOrg<Completing>,
): Promise<Output> {
  const places = await Promise.all(named.map((name) => findNamed(session, name, flags)))
  await checkNames(session, orgId, places)
  const environmentIds = named.length === 0 ? undefined : new Set(places.map(({ envId }) => envId))
  const { granted, left } = await completeAccess(session, orgId, { environmentIds, people: member }, flags)
  const idsOf = ({ environmentId, principalId }: { environmentId: string; principalId: string }) => ({
    environmentId,
    principalId,
  })
  return {
    json: {
      granted: granted.map(({ missing, outcome, reason }) => ({ ...idsOf(missing), outcome, reason })),
      left: left.map(idsOf),
    },
  }
}

async function decline(wanted: string, { session, flags, orgId }: InOrg<Flags & Reason>): Promise<Output> {
  const { id: accessRequestId } = await find(session, orgId, wanted)
  const body = flags.reason === undefined ? {} : { reason: flags.reason }
  const { request } = await session.client.accessRequests.decline({ params: { orgId, accessRequestId }, body })
  note('declined the request; the person was told')
  return { json: { request } }
}

async function withdraw(accessRequestId: string, { session, orgId }: InOrg): Promise<Output> {
  const { request } = await session.client.accessRequests.withdraw({ params: { orgId, accessRequestId } })
  note('withdrew the request')
  return { json: { request } }
}

const isRequestId = (text: string) => new RegExp(idPattern('accessRequest')).test(text)

/** Finds a request by its id, or the only open one of a person. */
async function find(session: Session, orgId: string, wanted: string): Promise<AccessRequest> {
  const { client } = session
  if (isRequestId(wanted))
    return (await client.accessRequests.get({ params: { orgId, accessRequestId: wanted } })).request
  const { requests } = await client.accessRequests.list({ params: { orgId }, query: { status: 'open' } })
  const nameOf = await namesOf(session, requests)
  const [found, another] = requests.filter((one) => nameOf(one) === wanted)
  if (!found) {
    const names = requests.map((one) => nameOf(one))
    throw new Failure('notFound', `${wanted} has no open request`, orNearest(wanted, names, 'see `skerry access ls`'))
  }
  if (another) throw usage(`${wanted} has several open requests`, 'name one by its id, as `skerry access ls` shows it')
  return found
}

async function namesOf(session: Session, requests: AccessRequest[]) {
  const nameOf = await openDirectory(
    session,
    requests.map(({ userId }) => userId),
  )
  return ({ userId }: AccessRequest): string => nameOf(userId) ?? userId
}

const labelsOf = (environments: { label: string }[]): string => environments.map(({ label }) => label).join(', ')

const noKeys = (environments: { label: string }[]) =>
  environments.length === 0
    ? new Failure('conflict', 'the person can read all of it already')
    : new Failure('refused', `you do not have the key of ${labelsOf(environments)}`, 'ask another admin to grant it')
