import { isClient } from '@skerry/contract/grants/readers'
import { createBranch } from '@skerry/sdk/environments'
import type { Command } from 'commander'
import { boundHere, findUnlessBound } from '../current-place.ts'
import { parseDuration } from '../duration.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import { type AtPlace, lookingUp, type SignedIn, signedIn } from '../frame.ts'
import { openPlace } from '../grants.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { branchesShared, environmentShared, noteKeyMade } from '../known-readers.ts'
import { checkSlug } from '../names.ts'
import { accepting, alias, confirmable, explained, formerly, leaf, withEnv } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { findApp, findPlace, type Place, usualApp } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptReaders } from '../readers.ts'
import { readersAtFirst, withRecovery } from '../recovery/key.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { branchCells, branchHeader } from '../tables.ts'
import { notedTime, shownTime } from '../times.ts'

interface Options extends Flags, ReaderFlags {
  from?: string
  yes?: boolean
}

/** `--from` was the name of `--env` before. */
const forked = (command: Command) =>
  formerly(
    withEnv(command.option('--app <slug>', 'application'), 'environment that the branch belongs to'),
    '--from <slug>',
  )

interface CreateOptions extends Options {
  ttl: string
  name?: string
  private?: boolean
}

export function register(command: Command): void {
  forked(leaf(command, 'ls', 'List the branches of an application, or of one environment')).action(
    signedIn(list, checkParent),
  )
  explained(
    alias(accepting(forked(leaf(command, 'create <slug>', 'Create a branch of an environment'))), '--expires', 'ttl'),
    'A branch stores only the values that differ, and expires by itself.',
  )
    .option('--ttl <duration>', 'when it expires: 24h, 7d or never', '7d')
    .option('--name <name>', 'display name (default: the slug)')
    .option('--private', 'give the key to no other reader of the environment; recovery still covers the branch')
    .action(atParent(create, parseCreate))
  forked(leaf(command, 'show <branch>', 'Show a branch')).action(atBranch(show))
  confirmable(forked(leaf(command, 'rm <branch>', 'Delete a branch with its values'))).action(atBranch(remove))
}

const parentOf = ({ env, from }: Options) => env ?? from

function checkParent({ env, from }: Options): void {
  if (env !== undefined && from !== undefined) throw usage('you named the environment twice', 'leave out --from')
}

/** Finds the environment that `--env` names, or the project's environment, or a branch of it. */
function findParent(session: Session, flags: Options, branch?: string): Promise<Place> {
  const named = parentOf(flags)
  return named === undefined
    ? findUnlessBound(session, flags, { env: session.settings.env, branch })
    : findPlace(session, { env: named, branch })
}

const atParent = lookingUp(
  async (session, flags: Options) => ({ place: await findParent(session, flags) }),
  checkParent,
)
const atBranch = lookingUp(
  async (session, flags: Options, slug) => ({ place: await findParent(session, flags, slug) }),
  checkParent,
)

async function create(
  _slug: string,
  { session, flags, place: parent, input: { slug, ttlSeconds } }: AtPlace<CreateOptions, typeof parseCreate>,
): Promise<Output> {
  const named = flags.name === undefined ? {} : { name: flags.name }
  const { orgId, envId } = parent
  const recovery = await withRecovery(session, flags)
  const receivers = flags.private ? undefined : await receiversOf(session, parent)
  const { isAccepted, keep } = await acceptReaders(
    session,
    { ...recovery, ...(receivers && { receivers }) },
    flags,
  ).catch((error) => {
    throw receivers ? orPrivate(error) : error
  })
  await keep()
  // The SDK lists the readers of the parent again, and compares them with the readers that were accepted here.
  const reads = receivers ? isAccepted : () => false
  const parentKey = mustVerifyIn(session, orgId)
    ? (await openPlace(session, orgId, envId, parent.label)).key.bytes
    : undefined
  const place = { orgId, envId, slug, ttlSeconds, ...named, reads, parentKey, ...recovery }
  const { branch, key } = await createBranch(session.client, place, await ownPublicKey(session)).catch((error) => {
    throw isTaken(error) ? taken(parent.label, slug) : error
  })
  const label = `${parent.label}@${slug}`
  await session.knownState.reading.made({ orgId, name: label, environmentId: branch.id }, key.bytes)
  await noteKeyMade(session, { orgId, envId: branch.id }, key, receivers?.readers)
  note(`created branch ${label}, expires ${branch.expiresAt ? notedTime(branch.expiresAt) : 'never'}`)
  if (flags.private) note(readersAtFirst(recovery))
  return { json: { branch }, text: () => writeLine(branch.id) }
}

const isTaken = (error: unknown): boolean => {
  const { kind, message } = toFailure(error)
  return kind === 'conflict' && message.startsWith('another environment has this slug')
}

const taken = (label: string, slug: string): Failure =>
  new Failure(
    'conflict',
    `${label} has a branch or an environment ${slug} already`,
    'choose another name, or see `skerry branch ls`',
  )

const parseCreate = (flags: CreateOptions, slug: string) => ({
  slug: checkSlug(slug, 'a branch'),
  ttlSeconds: flags.ttl === 'never' ? null : parseDuration(flags.ttl, '--ttl'),
})

/** A CI job that knows no reader of the environment may want the branch for itself. */
function orPrivate(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'refused' || error.next === undefined) return error
  return new Failure(error.kind, error.message, `${error.next}, or keep the branch to yourself with --private`)
}

/** The readers of a branch are the readers of its parent. */
async function receiversOf(session: Session, { orgId, envId, label }: Place) {
  const { key } = await openPlace(session, orgId, envId, label)
  const { grantees } = await session.client.envs.grantees({ params: { orgId, envId } })
  const source = await environmentShared(orgId, envId, key)
  const readers = grantees.filter(isClient)
  return { ...branchesShared(source), source, what: `the key of a branch of ${label}`, readers }
}

async function list({ session, flags }: SignedIn<Options>): Promise<Output> {
  const isOfOne = parentOf(flags) !== undefined || (await boundHere(session, flags)) !== undefined
  const branches = isOfOne ? await ofEnvironment(session, flags) : await ofApp(session)
  return {
    json: { branches },
    text: () =>
      writeTable(
        branchHeader,
        branches.map(branchCells),
        'no branches yet; create one with `skerry branch create <slug>`',
      ),
  }
}

async function ofApp(session: Session) {
  const app = await findApp(session, await usualApp(session))
  return (await session.client.apps.branches({ params: { orgId: app.orgId, appId: app.id } })).branches
}

async function ofEnvironment(session: Session, flags: Options) {
  const { orgId, envId } = await findParent(session, flags)
  return (await session.client.branches.list({ params: { orgId, envId } })).branches
}

async function show(_slug: string, { place: { environment: branch, label } }: AtPlace<Options>): Promise<Output> {
  return {
    json: { branch },
    text: () => {
      writeLine(`${label} (${branch.name}), ${branch.id}`)
      writeLine(`expires ${shownTime(branch.expiresAt)}`)
    },
  }
}

async function remove(
  _slug: string,
  { session, flags, place: { orgId, envId, label } }: AtPlace<Options>,
): Promise<Output> {
  await confirmOrRefuse(`deletes branch ${label} with its values`, flags)
  await session.client.envs.delete({ params: { orgId, envId } }, { typed: { environment: label } })
  note(`deleted branch ${label}`)
  return { json: { deleted: envId } }
}
