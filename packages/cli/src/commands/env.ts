import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { createEnvironment, type ParentGrantee, rekeyEnvironment } from '@skerry/sdk/environments'
import { wordsOf } from '@skerry/sdk/rollback'
import type { Command } from 'commander'
import { secretsIn } from '../contents.ts'
import { openDirectory } from '../directory.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import { warnOfLoss } from '../first-run/person.ts'
import { type AtPlace, atNamed, type SignedIn, signedIn } from '../frame.ts'
import { openPlace } from '../grants.ts'
import { environmentShared, noteKeyMade } from '../known-readers.ts'
import { trustCommand } from '../labels.ts'
import { checkSlug } from '../names.ts'
import { noKey } from '../no-key.ts'
import { accepting, branchHelp, confirmable, explained, formerly, gatherGroups, leaf, owned } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { everyRow } from '../pages.ts'
import { findApp, findGroup, type Place, usualApp } from '../places.ts'
import { typeName } from '../principals.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { acceptReaders, type ReaderFlags } from '../readers.ts'
import { readersAtFirst, withRecovery } from '../recovery/key.ts'
import { rekeySteps } from '../rekey-steps.ts'
import { noteRemoved } from '../removed-layers.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { environmentCells, environmentHeader } from '../tables.ts'
import { listTokens, tokenState } from '../tokens/find.ts'
import { readersOfRemoved } from '../tokens/made-by.ts'
import { count } from '../units.ts'
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
  ofOne(leaf(command, 'readers [env]', 'List who can read an environment, since when and why')).action(atNamed(readers))
  owned(leaf(command, 'rename <env> <name>', 'Change the display name; the slug stays')).action(atNamed(rename))
  confirmable(ofOne(leaf(command, 'protect [env]', 'Require approvals for changes, or change how many')))
    .option('--approvals <number>', 'how many approvals a change needs (default: 1)')
    .option('--self-approval', 'admins may approve their own changes')
    .option('--no-self-approval', 'admins may not approve their own changes (default)')
    .action(atNamed(protect, checkProtect))
  confirmable(ofOne(leaf(command, 'unprotect [env]', 'Require no approvals any more; open changes stay open'))).action(
    atNamed(unprotect),
  )
  accepting(confirmable(ofOne(leaf(command, 'rekey [env]', 'Replace the key, after someone lost access'))))
    .option('--drop-readers', 'do not give the new key to rotation and sync, through which the server can read')
    .action(atNamed(rekey))
  confirmable(ofOne(leaf(command, 'trust [env]', 'Accept a change of an environment’s identity or key')))
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
  const recovery = await withRecovery(session)
  const { keep } = await acceptReaders(session, recovery, flags)
  const place = {
    ...owner.params,
    name: flags.name ?? slug,
    slug,
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
  const [{ grantees }, { protection, openChangeRequests }, { groups }, { branches }] = await Promise.all([
    session.client.envs.grantees({ params }),
    session.client.protection.get({ params }),
    isApp ? session.client.composition.list({ params }) : { groups: [] },
    isApp ? session.client.branches.list({ params }) : { branches: [] },
  ])
  return {
    json: { environment: place.environment, protection, openChangeRequests, groups, branches, grantees },
    text: () => {
      writeLine(`${place.label} (${place.environment.name}), ${place.envId}`)
      if (isApp) writeLine(`groups: ${groups.map((group) => group.slug).join(', ') || 'none'}`)
      if (isApp) writeLine(`branches: ${branches.map((branch) => branch.slug).join(', ') || 'none'}`)
      const waiting = openChangeRequests === 0 ? '' : `; changes that wait: ${openChangeRequests}`
      writeLine(`protection: ${protection ? protectionWords(protection) : 'none'}${waiting}`)
      const rows = grantees.map((one) => [one.name ?? '', typeName(one.principalType), one.principalId])
      writeTable(['can read', 'type', 'id'], rows)
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

interface RekeyOptions extends Flags, ReaderFlags {
  yes?: boolean
  dropReaders?: boolean
}

async function rekey(_env: string | undefined, { session, flags, place }: AtPlace<RekeyOptions>): Promise<Output> {
  const { orgId, envId, label } = place
  await refuseProtected(session, place)
  const waiting = await listWaiting(session, place)
  const { key: oldKey } = await openPlace(session, orgId, envId, label)
  const { grantees } = await session.client.envs.grantees({ params: { orgId, envId } })
  const isDropped = (grantee: ParentGrantee) => flags.dropReaders === true && isReader(grantee)
  for (const reader of grantees.filter(isReader)) warnOfReader(reader, label, isDropped(reader))
  const stay = grantees.filter((one) => !isDropped(one))
  const shared = await environmentShared(orgId, envId, oldKey)
  const receivers = {
    ...shared,
    what: `the new key of ${label}`,
    readers: stay,
    remarks: await readersOfRemoved(session, stay),
  }
  const recovery = await withRecovery(session)
  const { isAccepted, keep } = await acceptReaders(session, { receivers, ...recovery }, flags)
  await confirmOrRefuse(
    `gives ${label} a new key, after which earlier versions of its secrets cannot be restored`,
    flags,
  )
  await keep()
  // The SDK lists the readers again, and wraps only to readers that were accepted here.
  const keeps = (grantee: ParentGrantee) => !isDropped(grantee) && isAccepted(grantee)
  const own = { privateKey: await session.key(), publicKeyJwk: await ownPublicKey(session) }
  const rekeyed = rekeyEnvironment(session.client, { orgId, envId, keeps, ...recovery }, own)
  const { key, kept, readers, lost, rekeyedSecrets } = await rekeyed.catch(async (error) => {
    throw await rekeyFailure(error, session, label)
  })
  await noteKeyMade(session, { orgId, envId }, key, stay)
  note(
    `${label} has a new key: ${count(rekeyedSecrets, 'secret')} encrypted again, readable by ${count(kept.length, 'holder')}`,
  )
  await noteLost(session, lost)
  if (waiting.length > 0)
    note(`  open changes were sealed with the old key and are superseded; propose them again: ${waiting.join(', ')}`)
  note(`other people, and machines that remember the old key, must run \`${trustCommand(label)}\` once`)
  note('what this cannot undo:')
  note('  those who had access may have kept the old key, and what it opened: change the values themselves')
  note('  copies kept for offline use still open until they are renewed or too old')
  note('  versions from before stay in the history, and can no longer be restored')
  if (place.kind === 'app') note(`  branches have keys of their own: ${await branchesOf(session, place.orgId, envId)}`)
  return { json: { environment: { id: envId, label }, rekeyedSecrets, kept, readers, lost } }
}

/** Names those who lost access by id and state, because a live token may have the name of an expired one. */
async function noteLost(session: Session, lost: readonly { principalId: string }[]): Promise<void> {
  const ids = lost.map(({ principalId }) => principalId)
  const nameOf = await openDirectory(session, ids)
  const tokens = ids.some((id) => id.startsWith('skt_')) ? await listTokens(session).catch(() => []) : []
  for (const id of ids) {
    const token = tokens.find((one) => one.id === id)
    const known = token ? `${id}, ${tokenState(token)}` : id
    const name = nameOf(id)
    note(`  ${name === undefined ? known : `${name} (${known})`} lost access`)
  }
}

/** The open changes, under the ids that other commands show. A caller who may not see them gets none. */
async function listWaiting({ client }: Session, { orgId, envId }: Place): Promise<string[]> {
  const found = await everyRow(
    (at) => client.changes.list({ params: { orgId }, query: { envId, status: 'open', limit: 200, ...at } }),
    ({ changeRequests }) => changeRequests,
  ).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  })
  return [...new Set(found.map(({ id, groupId }) => groupId ?? id))]
}

/** Refuses a protected environment. The server refuses it too, but with the message about a concurrent change. */
async function refuseProtected(session: Session, { orgId, envId, label }: Place): Promise<void> {
  const { protection } = await session.client.protection.get({ params: { orgId, envId } })
  if (protection === null) return
  throw new Failure(
    'conflict',
    `${label} is protected, and a new key would bypass its approvals`,
    `run ${rekeySteps(label, protection)
      .map((command) => `\`${command}\``)
      .join(', then ')}; all admins are mailed about the first`,
  )
}

/** Warns about a reader of the server, because the server can read everything that such a reader gets. */
function warnOfReader(
  reader: ParentGrantee & { principalType: keyof typeof readerWords },
  label: string,
  dropped: boolean,
) {
  const who = `the ${readerWords[reader.principalType]} (${reader.principalId})`
  if (dropped) warn(`${who} loses the key: what it does with ${label} fails until it is granted anew`)
  else warn(`${who} gets the new key too: through it the server can read ${label}; --drop-readers leaves it out`)
}

async function branchesOf(session: Session, orgId: string, envId: string): Promise<string> {
  const { branches } = await session.client.branches.list({ params: { orgId, envId } })
  return branches.length === 0 ? 'there are none' : `re-key ${branches.map(({ slug }) => `@${slug}`).join(', ')} too`
}

async function rekeyFailure(error: unknown, session: Session, label: string): Promise<unknown> {
  const { kind, message } = toFailure(error)
  if (kind === 'conflict') {
    const what = `${label} kept changing (${message}); it has its old key still`
    return new Failure(kind, what, 'try again when nobody writes to it')
  }
  const { code, secret } = error as { code?: unknown; secret?: unknown }
  if (code === 'decryption_failed' && typeof secret === 'string') {
    const what = `${secret} in ${label} cannot be decrypted, so nothing was changed`
    return new Failure('failure', what, 'write it anew or delete it, and try again')
  }
  return message.includes('key grant') ? noKey(session, label) : error
}

async function remove(_slug: string, { session, flags, place }: AtPlace<Confirmable>): Promise<Output> {
  const secrets = await secretsIn(session, [place.environment])
  const branches = place.kind === 'app' ? ' and its branches' : ''
  await confirmOrRefuse(`deletes ${place.label} with ${secrets}${branches}`, flags)
  await session.client.envs.delete({ params: { orgId: place.orgId, envId: place.envId } })
  if (flags.group !== undefined) noteRemoved(place.label.split(':')[0]!, [place.environment])
  note(`deleted environment ${place.label}`)
  return { json: { deleted: place.envId } }
}

/**
 * Accepts changes that other commands refuse, because they come from a malicious server, or from a person who wanted
 * them.
 */
async function trust(
  named: string | undefined,
  { session, flags }: SignedIn<Confirmable & { with?: string[] }>,
): Promise<Output> {
  const { acceptNow, changesOf } = await import('../trust.ts')
  const asked = { flags, named, with: flags.with ?? [] }
  const { place, changes } = await changesOf(session, asked)
  if (changes.length === 0) note(`${place.label} has not changed`)
  else {
    await confirmOrRefuse(`accepts a change of ${place.label}: ${wordsOf(changes)}`, flags)
    await acceptNow(session, asked)
  }
  return { json: { environment: { id: place.envId, label: place.label }, accepted: changes } }
}

async function ownerOf(session: Session, flags: Flags) {
  if (flags.group !== undefined && flags.app !== undefined) throw usage('--app and --group cannot be used together')
  if (flags.group !== undefined) {
    const group = await findGroup(session, flags.group)
    return { params: { orgId: group.orgId, groupId: group.id }, label: `${group.slug}:` }
  }
  const app = await findApp(session, await usualApp(session))
  return { params: { orgId: app.orgId, appId: app.id }, label: `${app.slug}/` }
}
