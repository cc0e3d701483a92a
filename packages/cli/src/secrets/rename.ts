import type { Answer } from '@skerry/contract/endpoint'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import type { Dek } from '@skerry/crypto/secret'
import { listDetails } from '@skerry/sdk/secret-details'
import { referringTo, renameSecret } from '@skerry/sdk/secret-history'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { placeOptions } from '../labels.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output, warn } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { closedDescription, isClosed } from './describe.ts'
import { noSecret } from './missing.ts'
import { isProtected } from './protection.ts'
import { warnUnproven } from './read.ts'
import { listSecrets, openKey } from './values.ts'
import { changed, expectedVersion, isConflict } from './write.ts'

interface Options extends Flags {
  expectedVersion?: string
  dryRun?: boolean
}

type Input = AtPlace<Options, typeof parseRename>

/** Renames a secret. Its versions and its details stay with it. */
export async function rename(name: string, newName: string, input: Input): Promise<Output> {
  const { session, flags, place } = input
  const { orgId, envId, label } = place
  const rows = await listSecrets(session, place)
  const secret = rows.find((one) => one.name === name)
  if (!secret) {
    const names = rows.map((one) => one.name)
    throw noSecret([name], label, names)
  }
  const { expectedVersion: expected = secret.version } = input.input.expected
  if (expected !== secret.version) throw changed(name, label, flags.expectedVersion)
  if (rows.some((one) => one.name === newName))
    throw new Failure('conflict', `${label} has a secret ${newName} already; nothing was renamed`)
  await refuseProtected(session, place, name, newName)
  const { dek } = await openKey(session, place)
  const referredBy = await referringTo(rows, name, dek)
  if (flags.dryRun) {
    note(`dry run: nothing was renamed; this would rename ${name} to ${newName} in ${label}`)
    warnReferring(referredBy, name, newName)
    return { json: { dryRun: true, name: newName, formerName: name, referredBy, environmentId: envId } }
  }
  const answer = await renameSecret(session.client, orgId, secret, newName, dek).catch(async (error) => {
    if (isClosed(error) && (await hasClosedDescription(session, place, name, dek)))
      throw closedDescription(name, label, '; nothing was renamed')
    if (!isConflict(error)) throw error
    throw new Failure('conflict', `${name} in ${label} was not renamed: ${toFailure(error).message}`)
  })
  await session.knownState.reading.deleted(envId, [name])
  await session.knownState.writing.wrote(envId, [newName])
  const { version } = answer.secret
  note(`renamed ${name} to ${newName} in ${label}; it is version ${version} now`)
  note(`programs no longer get ${name}; undo: \`skerry secrets rename ${newName} ${name} ${placeOptions(label)}\``)
  warnReferring(referredBy, name, newName)
  warnUnproven(newName, answer.unproven)
  for (const line of namedByLines(answer.namedBy, name)) warn(line)
  const { namedBy, unproven } = answer
  return { json: { name: newName, formerName: name, version, referredBy, namedBy, unproven, environmentId: envId } }
}

/** Says whether the description of a secret is the text that does not open. */
const hasClosedDescription = async ({ client }: Session, { orgId, envId }: Place, name: string, dek: Dek) =>
  (await listDetails(client, { orgId, envId }, dek)).some((one) => one.name === name && !one.isReadable)

export function parseRename(flags: Options, name: string, newName: string) {
  checkSecretName(name)
  checkSecretName(newName)
  if (name === newName) throw usage(`the new name is ${name}, which the secret has already`, 'choose another one')
  return { expected: expectedVersion(flags) }
}

/**
 * Refuses a protected environment, and names the change to propose instead. A change request cannot rename a secret
 * (ADR 15).
 */
async function refuseProtected(session: Session, place: Place, name: string, newName: string): Promise<void> {
  if (!(await isProtected(session, place))) return
  const options = placeOptions(place.label)
  throw new Failure(
    'conflict',
    `${place.label} is protected, so ${name} cannot be renamed; nothing was proposed`,
    `propose the write and the deletion as one change: write ${newName}=… to a file, then run \`skerry changes propose <file> --delete ${name} ${options}\``,
  )
}

function warnReferring(referredBy: string[], name: string, newName: string): void {
  if (referredBy.length === 0) return
  const [refer, them] = referredBy.length === 1 ? ['refers', 'it'] : ['refer', 'them']
  warn(`${referredBy.join(', ')} ${refer} to \${${name}}: change that to \${${newName}} in ${them}`)
}

function namedByLines(namedBy: Answer<typeof secrets.rename>['namedBy'], name: string): string[] {
  return namedBy.map(({ type, id, name: other }) => {
    if (type === 'agent') return `the policy of ${other ?? 'an agent'} still allows ${name}: publish another policy`
    if (type === 'sync_binding')
      return `a sync binding of ${other ?? 'a connection'} still names ${name} in its patterns: change them`
    return `the change request ${id} is about ${name}, so it can no longer be applied`
  })
}
