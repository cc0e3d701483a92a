import { createEnvironment } from '@skerry/sdk/environments'
import { type Rollback, wordsOf } from '@skerry/sdk/rollback'
import type { Command } from 'commander'
import { secretsIn } from '../contents.ts'
import { openDirectory, unlessRefused } from '../directory.ts'
import { usage } from '../failure.ts'
import { warnOfLoss } from '../first-run/person.ts'
import { type AtPlace, atNamed, type SignedIn, signedIn } from '../frame.ts'
import { changeOfName, checkKind, checkOwner, noteName, ownerOfPlace } from '../known-names.ts'
import { noteKeyMade } from '../known-readers.ts'
import { checkSlug } from '../names.ts'
import {
  accepting,
  branchHelp,
  confirmable,
  explained,
  formerly,
  gatherGroups,
  leaf,
  owned,
  queueing,
} from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { findApp, findGroup, usualApp } from '../places.ts'
import { typeName } from '../principals.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptReaders } from '../readers.ts'
import { readersAtFirst, withRecovery } from '../recovery/key.ts'
import { type RekeyOptions, rekey } from '../rekeying.ts'
import { noteRemoved } from '../removed-layers.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'
import { shownTime } from '../times.ts'
import { typedOwner } from '../typed-names.ts'
import { checkProtect, protect, protectionWords, unprotect } from './env-protection.ts'
import { readers } from './env-readers.ts'

/** The environment is the argument, or the one of the project. It was an option of `rekey` and `trust` before. */
const ofOne = (command: Command) => explained(formerly(branched(command), '--env <slug>'), howToName)

const branched = (command: Command) => owned(command).option('--branch <slug>', branchHelp)

const howToName =
  'Write an environment as env, app/env, app/env@branch or group:env. Without one, it is the environment of the project.'

export function register(command: Command): void {
  owned(leaf(command, 'ls', 'List the environments of an application or a group')).action(signedIn(list))
  explained(
    accepting(owned(leaf(command, 'create <slug>', 'Create an environment'))),
    'Its key is made on this machine and never reaches the server.',
  )
    .option('--name <name>', 'display name (default: the slug)')
    .action(signedIn(create, checkCreate))
  ofOne(leaf(command, 'show [env]', 'Show groups, branches, protection and readers of an environment')).action(
    atNamed(show),
  )
  ofOne(leaf(command, 'readers [env]', 'List who can read an environment, since when, and by which grant')).action(
    atNamed(readers),
  )
  owned(leaf(command, 'rename <env> <name>', 'Change the display name of an environment; the slug stays')).action(
    atNamed(rename),
  )
  confirmable(ofOne(leaf(command, 'protect [env]', 'Require approvals for changes, or change how many are needed')))
    .option('--approvals <number>', 'how many approvals a change needs (default: 1)')
    .option('--self-approval', 'admins may approve their own changes')
    .option('--no-self-approval', 'admins may not approve their own changes (default)')
    .action(atNamed(protect, checkProtect))
  confirmable(ofOne(leaf(command, 'unprotect [env]', 'Stop requiring approvals; open changes stay open'))).action(
    atNamed(unprotect),
  )
  queueing(
    accepting(
      confirmable(
        ofOne(
          leaf(command, 'rekey [env]', 'Replace the key of an environment, after you took access away from somebody'),
        ),
      ),
    ),
  )
    .option('--drop-readers', 'do not give the new key to rotation and sync, through which the server can read')
    .action(
      atNamed((_env: string | undefined, { session, flags, place }: AtPlace<RekeyOptions>) =>
        rekey(session, place, flags),
      ),
    )
  confirmable(ofOne(leaf(command, 'trust [envs...]', 'Accept environments whose id or key changed')))
    .option(
      '--with <group=env>',
      'use another environment of a group, as in `skerry run --with`; repeatable',
      gatherGroups,
    )
    .action(signedIn(trust))
  confirmable(owned(leaf(command, 'rm <env>', 'Delete an environment with its secrets and branches'))).action(
    atNamed(remove),
  )
}

const checkCreate = (_flags: Flags, slug: string) => {
  checkSlug(slug, 'an environment')
}

async function create(
  slug: string,
  { session, flags }: SignedIn<Flags & ReaderFlags & { name?: string }>,
): Promise<Output> {
  const owner = await ownerOf(session, flags)
  const recovery = await withRecovery(session, flags)
  const { keep } = await acceptReaders(session, recovery, flags)
  const place = {
    ...owner.params,
    name: flags.name ?? slug,
    slug,
    ...typedOwner(session, owner.params.orgId, owner.given).typed,
    ...recovery,
  }
  await keep()
  const { environment, key } = await createEnvironment(session.client, place, await ownPublicKey(session))
  const named = { orgId: place.orgId, name: `${owner.label}${slug}`, environmentId: environment.id }
  await session.knownState.reading.made(named, key.bytes)
  await noteKeyMade(session, { orgId: place.orgId, envId: environment.id }, key)
  note(`created environment ${owner.label}${slug}; ${readersAtFirst(recovery)}`)
  await warnOfLoss(session, [`${owner.label}${slug}`], recovery)
  return { json: { environment }, text: () => writeLine(environment.id) }
}

async function list({ session, flags }: SignedIn): Promise<Output> {
  const { params } = await ownerOf(session, flags)
  const { environments } =
    params.appId !== undefined
      ? await session.client.apps.envs({ params })
      : await session.client.groups.envs({ params })
  return {
    json: { environments },
    text: () =>
      writeTable(
        environmentHeader,
        environments.map(environmentCells),
        'no environments yet; create one with `skerry env create <env>`',
      ),
  }
}

async function show(_slug: string, { session, place }: AtPlace): Promise<Output> {
  const params = { orgId: place.orgId, envId: place.envId }
  const isApp = place.kind === 'app'
  const [{ grantees }, grants, { protection, openChangeRequests }, { groups }, { branches }] = await Promise.all([
    session.client.envs.grantees({ params }),
    // Only admins may see when access ends.
    unlessRefused(async () => (await session.client.grants.list({ params })).grants),
    session.client.protection.get({ params }),
    isApp ? session.client.composition.list({ params }) : { groups: [] },
    isApp ? session.client.branches.list({ params }) : { branches: [] },
  ])
  return {
    json: { environment: place.environment, protection, openChangeRequests, groups, branches, grantees },
    text: async () => {
      const nameless = grantees.filter(({ name }) => name === null)
      const nameOf = await openDirectory(
        session,
        nameless.map(({ principalId }) => principalId),
      )
      writeLine(`${place.label} (${place.environment.name}), ${place.envId}`)
      if (isApp) writeLine(`groups: ${groups.map((group) => group.slug).join(', ') || 'none'}`)
      if (isApp) writeLine(`branches: ${branches.map((branch) => branch.slug).join(', ') || 'none'}`)
      const waiting = openChangeRequests === 0 ? '' : `; changes that wait: ${openChangeRequests}`
      writeLine(`protection: ${protection ? protectionWords(protection) : 'none'}${waiting}`)
      const ends = new Map(grants.map(({ principalId, endsAt }) => [principalId, endsAt ?? null]))
      const isTemporary = grants.some(({ endsAt }) => endsAt != null)
      writeTable(
        ['can read', 'type', ...(isTemporary ? ['until'] : []), 'id'],
        grantees.map(({ name, principalType, principalId }) => [
          name ?? nameOf(principalId) ?? '',
          typeName(principalType),
          ...(isTemporary ? [shownTime(ends.get(principalId) ?? null, '')] : []),
          principalId,
        ]),
      )
    },
  }
}

async function rename(
  _slug: string,
  name: string,
  { session, place: { orgId, envId, label } }: AtPlace,
): Promise<Output> {
  const { environment } = await session.client.envs.update({ params: { orgId, envId }, body: { name } })
  note(`${label} is called ${environment.name} now`)
  return { json: { environment } }
}

async function remove(_slug: string, { session, flags, place }: AtPlace<Confirmable>): Promise<Output> {
  const secrets = await secretsIn(session, [place.environment])
  const branches = place.kind === 'app' ? ' and its branches' : ''
  await confirmOrRefuse(`deletes ${place.label} with ${secrets}${branches}`, flags)
  await session.client.envs.delete(
    { params: { orgId: place.orgId, envId: place.envId } },
    { typed: { environment: place.label } },
  )
  // The slug of a group that was named by its id is only the server's word.
  if (flags.group === ownerOfPlace(place).name) noteRemoved(flags.group, [place.environment])
  note(`deleted environment ${place.label}`)
  return { json: { deleted: place.envId } }
}

/**
 * Accepts changes that other commands refuse, because they come from a malicious server, or from a person who wanted
 * them.
 */
async function trust(
  named: string[],
  { session, flags }: SignedIn<Confirmable & { with?: string[] }>,
): Promise<Output> {
  const { acceptNow, changesOf } = await import('../trust.ts')
  const rows: { environment: { id: string; label: string }; accepted: Rollback[] }[] = []
  for (const one of named.length === 0 ? [undefined] : named) {
    const asked = { flags, named: one, with: flags.with ?? [] }
    const { place, changes } = await changesOf(session, asked)
    const owner = ownerOfPlace(place)
    checkKind(owner, owner.kind)
    const other = changeOfName(session, place.orgId, owner.kind, owner)
    const words = [...(changes.length === 0 ? [] : [wordsOf(changes)]), ...(other === undefined ? [] : [other])]
    if (words.length === 0) note(`${place.label} has not changed`)
    else {
      await confirmOrRefuse(`accepts a change of ${place.label}: ${words.join('; ')}`, flags)
      await acceptNow(session, asked)
      if (other !== undefined) noteName(session, place.orgId, owner)
    }
    rows.push({ environment: { id: place.envId, label: place.label }, accepted: changes })
  }
  return { json: rows.length === 1 ? rows[0]! : { environments: rows } }
}

async function ownerOf(session: Session, flags: Flags) {
  if (flags.group !== undefined && flags.app !== undefined) throw usage('--app and --group cannot be used together')
  if (flags.group !== undefined) {
    const group = await findGroup(session, flags.group)
    checkOwner(session, 'group', group, flags.group)
    return { params: { orgId: group.orgId, groupId: group.id }, label: `${group.slug}:`, given: flags.group }
  }
  const given = await usualApp(session)
  const app = await findApp(session, given)
  checkOwner(session, 'application', app, given ?? '')
  return { params: { orgId: app.orgId, appId: app.id }, label: `${app.slug}/`, given }
}
