import type { Command } from 'commander'
import { findCurrent, findNamed } from '../current-place.ts'
import { openDirectory, principalIdOf } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import { type AtPlace, atNamed, atPlace, type SignedIn, signedIn, withOptionsAbove } from '../frame.ts'
import { parseGrantTime } from '../grant-time.ts'
import { everyOpenPlace, grantAll, keysOf, lookUpGrantee, openWithGroups } from '../grants.ts'
import { type Holder, type HolderFlags, holderNamed } from '../holder.ts'
import { namedHolder } from '../known-holders.ts'
import { forgetReader } from '../known-readers.ts'
import { branchesOption, hintOlderBranches, lackedBy, listBranchesOf, openBranches } from '../older-branches.ts'
import { accepting, addressed, common, confirmable, explained, formerly, leaf } from '../options.ts'
import { note, type Output, writeTable } from '../output.ts'
import { checkNamed } from '../places.ts'
import { typeName } from '../principals.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptGrant, acceptGrantees } from '../readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { formatDuration } from '../units.ts'

interface Options extends Flags, ReaderFlags, HolderFlags {
  all?: boolean
  allButProduction?: boolean
  branches?: boolean
  for?: string
  yes?: boolean
}

export function register(command: Command): void {
  explained(
    accepting(
      confirmable(
        addressed(
          common(
            command
              .argument('[holder]', 'e-mail address of a member, or name of a token')
              .argument('[env]', 'environment: env, app/env, app/env@branch or group:env'),
          ),
        ),
      ),
    ),
    'Only readers of an environment can grant it. Without a name, the readers are listed.',
  )
    .usage('[member or token] [env]')
    .option('--all', 'grant every environment that you can read')
    .option('--all-but-production', 'like --all, without production environments and their branches')
    .option(...branchesOption)
    .option('--for <duration>', 'the server ends the access after this time, for example 8h or 7d')
    .action(signedIn(grantOrList, checkGrant))
  formerly(formerly(command, '--token <token>'), '--user <member>')
  addressed(leaf(command, 'ls [env]', 'List who has the key of an environment')).action(
    withOptionsAbove(atNamed((_env: string | undefined, at: AtPlace) => list(at))),
  )
  confirmable(
    addressed(leaf(command, 'revoke <holder>', 'End the access of a person or a token to an environment')),
  ).action(withOptionsAbove(atPlace(revoke)))
}

async function grantOrList(
  _holder: string | undefined,
  named: string | undefined,
  { session, flags, input }: SignedIn<Options, typeof checkGrant>,
): Promise<Output> {
  if (input !== undefined) return grant({ session, flags, input }, named)
  return list({ session, flags, input: undefined, place: await findCurrent(session, flags) })
}

async function grant(
  { session, flags, input }: { session: Session; flags: Options; input: Given },
  named: string | undefined,
): Promise<Output> {
  const { name, wantedName, ...grantee } = await lookUpGrantee(session, input.holder)
  const isMany = flags.all || flags.allButProduction
  const place = isMany ? undefined : await findNamed(session, named, flags)
  const branches = await listBranchesOf(session, place)
  const places = place
    ? [
        ...(await openWithGroups(session, place)),
        ...(flags.branches ? await openBranches(session, place.orgId, branches) : []),
      ]
    : await everyOpenPlace(session, flags.allButProduction ? { but: 'production' } : {})
  if (places.length === 0)
    throw new Failure(
      'refused',
      'this credential has no key, so it can grant none',
      'if another credential of this machine has keys, add `--profile <name>`: `skerry profile ls` lists them',
    )
  const receiver = { ...grantee, name, wantedName }
  const keep = isMany
    ? await acceptGrant(session, { labels: places.map(({ label }) => label), grantee: receiver }, flags)
    : await acceptGrantees(session, { what: keysOf(places), grantees: [receiver] }, flags)
  keep()
  const { granted, held } = await grantAll(session, places, grantee, input.seconds)
  const span = input.seconds === undefined ? '' : ` for ${formatDuration(input.seconds)}`
  for (const label of granted) note(`granted ${label} to ${name}${span}`)
  if (input.seconds === undefined) for (const label of held) note(`${name} already has the key of ${label}`)
  else if (held.length > 0)
    throw new Failure(
      'refused',
      `${name} already has the key of ${held.join(', ')} without an end`,
      '--for does not change that: revoke it first, with `skerry grant revoke`',
    )
  const others = branches.filter(({ envId }) => places.every((one) => one.envId !== envId))
  if (place) hintOlderBranches(await lackedBy(session, place.orgId, grantee.principalId, others), name)
  return { json: { grantee: grantee.principalId, granted, alreadyHeld: held } }
}

interface Given {
  holder: Holder
  seconds: number | undefined
}

function checkGrant(flags: Options, argument?: string, named?: string): Given | undefined {
  const holder = holderNamed(argument, flags)
  const seconds = parseGrantTime(flags.for)
  if (flags.all && flags.allButProduction) throw usage('--all and --all-but-production exclude each other', 'use one')
  checkNamed(flags, named)
  if (named !== undefined && (flags.all || flags.allButProduction))
    throw usage(`--all${flags.all ? '' : '-but-production'} and ${named} exclude each other`, 'use one')
  if (flags.branches && (flags.all || flags.allButProduction))
    throw usage('--branches and --all exclude each other', '--all grants branches, too')
  if (holder !== undefined) return { holder, seconds }
  if (flags.branches) throw usage('--branches grants, so it needs a member or a token', 'name one')
  if (flags.all || flags.allButProduction)
    throw usage(`${flags.all ? '--all' : '--all-but-production'} grants, so it needs a member or a token`, 'name one')
  if (flags.for !== undefined) throw usage('--for needs a member or a token', 'name the one that gets access')
  return undefined
}

async function list({ session, place: { orgId, envId, label } }: AtPlace): Promise<Output> {
  const { grants } = await session.client.grants.list({ params: { orgId, envId } })
  // The wrapped key is left out, because only its holder can use it.
  const rows = grants.map(({ id, principalType, principalId, createdAt, endsAt }) => ({
    id,
    principalType,
    principalId,
    createdAt,
    // A server of an earlier release has no temporary grants, and does not send this.
    endsAt: endsAt ?? null,
  }))
  return {
    json: { environment: { id: envId, label }, grants: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ principalId }) => principalId),
      )
      writeTable(
        ['holder', 'type', 'since', 'until', 'id'],
        rows.map((row) => [
          nameOf(row.principalId) ?? row.principalId,
          typeName(row.principalType),
          shownTime(row.createdAt),
          shownTime(row.endsAt, ''),
          row.id,
        ]),
        'nobody has this key; see `skerry recovery status`',
      )
    },
  }
}

async function revoke(
  wanted: string,
  { session, flags, place: { orgId, envId, label } }: AtPlace<Confirmable>,
): Promise<Output> {
  const { grants } = await session.client.grants.list({ params: { orgId, envId } })
  const isId = /^[a-z0-9]{2,3}_[0-9A-Za-z]{22}$/.test(wanted)
  const holderId = isId ? wanted : await principalIdOf(session, wanted, 'the holder')
  const found = grants.find(({ id, principalId }) => id === wanted || principalId === holderId)
  if (!found) throw new Failure('notFound', `${label} has no grant of ${wanted}`, 'see `skerry grant ls`')
  const nameOf = await openDirectory(session, [found.principalId])
  const shown = nameOf(found.principalId) ?? found.principalId
  const named = isId ? found.principalId : wanted
  const name = await namedHolder(session, { orgId, id: found.principalId, shown }, named, flags)
  await confirmOrRefuse(
    `takes the key of ${label} from ${name}, who then cannot read it; \`skerry grant\` would give it back`,
    flags,
  )
  const typed = { holderId: found.principalId, ...(isId ? {} : { holder: name }) }
  await session.client.grants.delete({ params: { orgId, envId, grantId: found.id } }, { typed })
  forgetReader(session, orgId, found.principalId, envId)
  note(`${name} no longer gets the key of ${label}, but may have kept a copy`)
  note(`give the environment a new key with \`skerry env rekey ${label}\`, then change its values`)
  return { json: { revoked: found.id } }
}
