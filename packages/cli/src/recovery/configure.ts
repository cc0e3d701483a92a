import { limits } from '@skerry/contract/limits'
import { coverEnvironments, newRecoveryKey } from '@skerry/sdk/recovery'
import { openDirectory } from '../directory.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { everyOpenPlace, lookUpGrantee, type OpenPlace } from '../grants.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { noteReaders, type Shared } from '../known-readers.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { compareKeys, type PinnedGrantee, wordsOf } from '../pins.ts'
import { listPlaces } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptGrantees, acceptReaders } from '../readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { count } from '../units.ts'
import { doubtAbout, isAccepted, keepRecoveryKey } from './key.ts'

export interface Plan extends Flags, ReaderFlags {
  custodian?: string[]
  threshold?: string
  yes?: boolean
}

const environmentsOf = (places: OpenPlace[]) =>
  places.map(({ envId, key }) => ({ environmentId: envId, key: key.bytes }))

const aShare = 'a share of the recovery key'

export function parseSetup({ custodian, threshold }: Plan) {
  if (!custodian) throw usage('the custodians are missing', 'name each with --custodian <member>')
  return { names: custodian, threshold: parseThreshold(threshold, custodian.length) }
}

export async function setup({
  session,
  flags,
  orgId,
  input: { names, threshold },
}: InOrg<Plan, typeof parseSetup>): Promise<Output> {
  const custodians = await findCustodians(session, names)
  const places = await everyOpenPlace(session)
  const keep = await acceptGrantees(session, { what: aShare, grantees: custodians }, flags)
  await confirmPlan('sets recovery up', threshold, custodians, places, flags)
  keep()
  const body = await newRecoveryKey({ orgId, threshold, custodians, environments: environmentsOf(places) })
  const { coverage } = await session.client.recovery.enable({ params: { orgId }, body })
  await noteReaders(session, sharesOf(orgId, threshold), custodians)
  return tellMade(session, orgId, body, coverage)
}

/** Refuses a threshold that is no number, before the session is opened. */
export function checkRotate({ threshold, custodian }: Plan): void {
  if (threshold !== undefined) parseThreshold(threshold, custodian?.length ?? Number.POSITIVE_INFINITY)
}

/** Makes a new recovery key, for the current threshold and custodians unless the options name others. */
export async function rotate({ session, flags, orgId }: InOrg<Plan>): Promise<Output> {
  const { recovery, coverage: before } = await session.client.recovery.get({ params: { orgId } })
  if (!recovery) throw notSetUp()
  const nameOf = await openDirectory(
    session,
    recovery.custodians.map(({ userId }) => userId),
  )
  const names = flags.custodian ?? recovery.custodians.map(({ userId }) => userId)
  const threshold = parseThreshold(flags.threshold ?? String(recovery.threshold), names.length)
  const custodians = await findCustodians(session, names)
  // A threshold that comes from the server must be the one that the custodians are known for. --threshold may be any
  // number.
  const shares = sharesOf(orgId, flags.threshold === undefined ? threshold : undefined)
  const receivers = { ...shares, what: aShare, readers: custodians }
  // The custodians come from the server, unless the user names them.
  const keep =
    flags.custodian === undefined
      ? (await acceptReaders(session, { receivers }, flags)).keep
      : await acceptGrantees(session, { what: aShare, grantees: custodians }, flags)
  const places = await everyOpenPlace(session)
  const opened = new Set(places.map(({ envId }) => envId))
  const lost = before.protectedEnvIds.filter((id) => !opened.has(id))
  if (lost.length > 0)
    warn(
      `${await labelsOf(session, lost)} will not be covered any more, because you cannot read ${lost.length === 1 ? 'it' : 'them'}: someone who can must run \`skerry recovery cover\` afterwards`,
    )
  await confirmPlan(
    'makes a new recovery key and cancels all requests under the old one',
    threshold,
    custodians.map((one) => ({ ...one, label: nameOf(one.label) ?? one.label })),
    places,
    flags,
  )
  await keep()
  const body = await newRecoveryKey({ orgId, threshold, custodians, environments: environmentsOf(places) })
  const { coverage } = await session.client.recovery.rotate({ params: { orgId }, body })
  await noteReaders(session, sharesOf(orgId, threshold), custodians)
  return tellMade(session, orgId, body, coverage)
}

function parseThreshold(text: string | undefined, custodians: number): number {
  if (text === undefined) throw usage('the threshold is missing', 'use --threshold <number of shares that are needed>')
  const threshold = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (threshold < limits.recoveryThresholdMin)
    throw usage(`--threshold must be a whole number, ${limits.recoveryThresholdMin} or more`)
  if (threshold > custodians)
    throw usage(
      `--threshold is ${threshold}, but there ${custodians === 1 ? 'is' : 'are'} only ${count(custodians, 'custodian')}`,
      'name more people with --custodian, or use a smaller --threshold',
    )
  return threshold
}

interface Custodian extends PinnedGrantee {
  userId: string
  label: string
}

/** The shares of a recovery key with this threshold. If undefined, any threshold matches. */
const sharesOf = (orgId: string, threshold: number | undefined): Shared => ({
  orgId,
  id: 'recovery shares',
  key: threshold === undefined ? undefined : `any ${threshold}`,
})

async function findCustodians(session: Session, names: string[]) {
  const found: Custodian[] = []
  for (const user of names) {
    const { principalId: userId, name, wantedName, publicKeyJwk } = await lookUpGrantee(session, { user })
    if (found.some((one) => one.userId === userId)) throw usage(`--custodian names ${user} twice`)
    found.push({ userId, principalId: userId, name, wantedName, publicKeyJwk, label: user })
  }
  await compareKeys(session, found)
  return found
}

async function confirmPlan(
  effect: string,
  threshold: number,
  custodians: { label: string; publicKeyJwk: string }[],
  places: OpenPlace[],
  flags: Plan,
): Promise<void> {
  for (const { label, publicKeyJwk } of custodians) note(`custodian ${label}: ${await wordsOf(publicKeyJwk)}`)
  const covered = places.length === 0 ? 'no environment yet' : places.map(({ label }) => label).join(', ')
  if (threshold === custodians.length)
    warn(
      `${threshold === 2 ? 'both' : `all ${threshold}`} custodians are needed: if one of them loses their key or leaves, ` +
        'nothing can be recovered; name one more --custodian or lower --threshold',
    )
  await confirmOrRefuse(
    `${effect}. Any ${threshold} of ${custodians.length} custodians together can open ${covered}`,
    flags,
  )
}

type Made = { recoveryPublicKeyJwk: string; threshold: number; shares: unknown[] }
type Coverage = { protected: number; total: number; unprotectedEnvIds: string[] }

async function tellMade(session: Session, orgId: string, made: Made, coverage: Coverage): Promise<Output> {
  const { recoveryPublicKeyJwk, threshold, shares } = made
  await keepRecoveryKey(session, recoveryPublicKeyJwk)
  const words = await wordsOf(recoveryPublicKeyJwk)
  note(
    `any ${threshold} of ${shares.length} shares open ${coverage.protected} of ${count(coverage.total, 'environment')}`,
  )
  await noteUncovered(session, coverage)
  note('custodians and admins compare the twelve words of the recovery key')
  if (mustVerifyIn(session, orgId))
    await (await import('../trust/recovery-key.ts')).tellUnsigned(session, orgId, recoveryPublicKeyJwk)
  return { json: { recoveryPublicKeyJwk, fingerprint: words, coverage }, text: () => writeLine(words) }
}

async function noteUncovered(session: Session, { unprotectedEnvIds }: Coverage): Promise<void> {
  if (unprotectedEnvIds.length === 0) return
  warn(`not covered: ${await labelsOf(session, unprotectedEnvIds)}`)
  note('  an admin who can read them runs `skerry recovery cover`')
}

async function labelsOf(session: Session, envIds: string[]): Promise<string> {
  const labels = new Map((await listPlaces(session)).map(({ envId, label }) => [envId, label]))
  return envIds.map((id) => labels.get(id) ?? id).join(', ')
}

/** Covers every environment that this credential can read and that is not covered yet. */
export async function cover({ session, flags, orgId }: InOrg<Flags & ReaderFlags>): Promise<Output> {
  const { recovery, coverage: before } = await session.client.recovery.get({ params: { orgId } })
  if (!recovery) throw notSetUp()
  const { recoveryPublicKeyJwk } = recovery
  const { keep } = await acceptReaders(session, { recoveryPublicKeyJwk }, flags)
  const wanted = new Set(before.unprotectedEnvIds)
  const places = (await everyOpenPlace(session)).filter(({ envId }) => wanted.has(envId))
  const grants = await coverEnvironments(environmentsOf(places), recoveryPublicKeyJwk)
  await keep()
  const { coverage } = await session.client.recovery.cover({ params: { orgId }, body: { grants } })
  for (const { label } of places) note(`covered ${label}`)
  if (places.length === 0) note('every environment that you can read was already covered')
  await noteUncovered(session, coverage)
  return { json: { covered: places.map(({ envId, label }) => ({ id: envId, label })), coverage } }
}

export async function disable({ session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  await confirmOrRefuse('ends recovery. Then nobody can recover from a lost passphrase', flags)
  await session.client.recovery.disable({ params: { orgId } })
  note('recovery is off: every key that was wrapped to the recovery key is deleted')
  return { json: { recovery: null } }
}

export async function trust({ session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) throw notSetUp()
  const words = await wordsOf(recoveryPublicKeyJwk)
  if (!(await isAccepted(session, recoveryPublicKeyJwk))) {
    note(`shown by the server now: ${words}`)
    await confirmOrRefuse(
      'accepts the recovery key. First compare its words with the person who made it, in person or by phone',
      flags,
    )
    await keepRecoveryKey(session, recoveryPublicKeyJwk)
  }
  note('this machine now knows the recovery key')
  return { json: { recoveryPublicKeyJwk, fingerprint: words } }
}

/** Shows an admin everything, and a custodian or a target the requests that wait for them. */
export async function status({ session, orgId }: InOrg): Promise<Output> {
  const found = await session.client.recovery.get({ params: { orgId } }).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  const { requests } = await session.client.recoveryRequests.list({ params: { orgId } })
  const open = requests.filter((one) => one.status === 'open')
  return {
    json: { ...found, requests },
    text: async () => {
      if (found) await writeStatus(session, found)
      const nameOf = await openDirectory(
        session,
        open.map(({ targetId }) => targetId),
      )
      for (const { id, drill, targetId, contributed, threshold, expiresAt } of open) {
        const name = drill ? 'a drill' : (nameOf(targetId) ?? targetId)
        writeLine(`open: ${id} for ${name}, ${contributed} of ${threshold} shares, until ${shownTime(expiresAt)}`)
      }
      if (open.length === 0) writeLine('no request is open')
    },
  }
}

type Found = Awaited<ReturnType<Session['client']['recovery']['get']>>

async function writeStatus(session: Session, { recovery, coverage }: Found): Promise<void> {
  if (!recovery) return writeLine('recovery is not set up; run `skerry recovery setup`')
  const { recoveryPublicKeyJwk, threshold, custodians, lastDrillAt } = recovery
  const { id: orgId } = await session.org()
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const names = new Map(members.map(({ userId, email }) => [userId, email ?? userId]))
  const doubt = await doubtAbout(session, recoveryPublicKeyJwk)
  writeLine(`recovery key: ${await wordsOf(recoveryPublicKeyJwk)}${doubt === '' ? '' : ` (${doubt})`}`)
  writeLine(
    `any ${threshold} of ${custodians.length}: ${custodians.map(({ userId }) => names.get(userId) ?? userId).join(', ')}`,
  )
  writeLine(`covered: ${coverage.protected} of ${count(coverage.total, 'environment')}`)
  writeLine(`last drill: ${shownTime(lastDrillAt)}`)
  if (coverage.custodiansGone > 0)
    warn(
      `${count(coverage.custodiansGone, 'custodian')} left or replaced their keys; \`skerry recovery rotate\` makes new shares`,
    )
  if (custodians.length < threshold) warn('fewer custodians are left than shares are needed: nothing can be recovered')
  await noteUncovered(session, coverage)
}

export const notSetUp = () => new Failure('notFound', 'recovery is not set up', 'an admin runs `skerry recovery setup`')
