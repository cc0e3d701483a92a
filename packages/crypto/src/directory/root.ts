import { encodeBase64url } from '../base64url.ts'
import { CryptoError } from '../errors.ts'
import { randomBytes } from '../random.ts'
import { type ParsedDocument, parseDocument, signaturesMax } from './document.ts'
import { DirectoryError, malformed, timeText } from './refusal.ts'
import {
  anything,
  either,
  hash,
  id,
  jwk,
  list,
  nonce,
  nullable,
  object,
  oneOf,
  requireShape,
  time,
  whole,
} from './shape.ts'
import { type NamedKey, requireOwnKid, validKids } from './signing.ts'

/** A key of a person or of a token that may sign. A person may have several keys, such as one on each machine. */
export type RootSigner = NamedKey & {
  alg: 'ES256'
  /** The key that signs policies of agents for this signer, if there is one. */
  policyKid: string | null
} & ({ person: string } | { token: string })

/** Keys that can change the root if its signers are gone. Their printed codes are kept offline. */
interface Rescue {
  threshold: number
  keys: readonly (NamedKey & { alg: 'ES256' })[]
}

/** Names the people who may sign for an organization. Times are Unix seconds. */
export interface RootBody {
  v: 1
  org: string
  /** 128 random bits, which never change. */
  nonce: string
  /** From 1. */
  version: number
  /** The hash of the root before; null for the first one. */
  prev: string | null
  issuedAt: number
  threshold: number
  signers: readonly RootSigner[]
  rescue: Rescue | null
  /** Thumbprint of the organization's recovery key, to which keys of environments may be wrapped. */
  recovery: string | null
  /** Empty until clients can check witnesses; `quorum` and `freshHours` are then 0. */
  witnesses: readonly never[]
  quorum: 0
  freshHours: 0
  /** Empty until clients can check guarded environments. */
  guarded: Readonly<Record<string, never>>
  /** The weakest form of wrapped keys and of tokens that clients accept. */
  minimum: { wrap: 'wd1'; token: 'classic' | 'skerry' }
}

export type RootDocument = ParsedDocument<RootBody>

/** The decisions that a root contains. */
export type RootDraft = Pick<RootBody, 'threshold' | 'signers' | 'rescue' | 'recovery' | 'minimum'>

const thresholdMax = 8
const threshold = whole(1, thresholdMax)
const key = { kid: hash, alg: oneOf('ES256'), jwk }
const signerShape = either(
  'person',
  object({ ...key, person: id('user'), policyKid: nullable(hash) }),
  object({ ...key, token: id('serviceToken'), policyKid: nullable(hash) }),
)
const rootShape = object({
  v: anything,
  org: id('organization'),
  nonce,
  version: whole(1),
  prev: nullable(hash),
  issuedAt: time,
  threshold,
  signers: list(signerShape, 1, signaturesMax),
  rescue: nullable(object({ threshold, keys: list(object(key), 1, signaturesMax) })),
  recovery: nullable(hash),
  witnesses: anything,
  quorum: anything,
  freshHours: anything,
  guarded: anything,
  minimum: object({ wrap: oneOf('wd1'), token: oneOf('classic', 'skerry') }),
})

/**
 * Makes the body of the first root of an organization.
 *
 * @example const rootBody = newRoot(orgId, rootDraft, 1_767_225_600)
 */
export const newRoot = (org: string, draft: RootDraft, issuedAt: number): RootBody =>
  rootOf(draft, { org, nonce: encodeBase64url(randomBytes(16)), version: 1, prev: null, issuedAt })

/**
 * Makes the body of the root that follows `before`. It is never dated before it.
 *
 * @example const rootBody = nextRoot(rootDocument, rootDraft, 1_767_225_600)
 */
export function nextRoot({ body, hash: prev }: RootDocument, draft: RootDraft, now: number): RootBody {
  const { org, nonce: same, version } = body
  return rootOf(draft, { org, nonce: same, version: version + 1, prev, issuedAt: Math.max(now, body.issuedAt) })
}

type RootPlace = Pick<RootBody, 'org' | 'nonce' | 'version' | 'prev' | 'issuedAt'>

const rootOf = ({ threshold: needed, signers, rescue, recovery, minimum }: RootDraft, place: RootPlace): RootBody => ({
  v: 1,
  ...place,
  threshold: needed,
  signers,
  rescue,
  recovery,
  witnesses: [],
  quorum: 0,
  freshHours: 0,
  guarded: {},
  minimum,
})

/**
 * Parses a root and checks all that can be checked about it alone: its form, that each kid is the thumbprint of its key,
 * that its thresholds can be reached, and that enough of its own signers have signed it.
 *
 * @throws CryptoError `directory_malformed`, `directory_unsupported`, `directory_unsigned`.
 */
export async function openRoot(text: string): Promise<RootDocument> {
  const document = await parseRoot(text)
  await requireOwnSignatures(document)
  return document
}

/**
 * Parses a root as {@link openRoot} does, but checks no signature: for a person who is about to add theirs.
 *
 * @throws CryptoError `directory_malformed`, `directory_unsupported`.
 */
export async function parseRoot(text: string): Promise<RootDocument> {
  const document = await parseDocument('or1', text)
  requireSupported(document.body)
  requireShape('root', rootShape, document.body)
  const root = document.body as RootBody
  requireReachable(root)
  await Promise.all([...root.signers, ...(root.rescue?.keys ?? [])].map(requireOwnKid))
  return document as RootDocument
}

/** A later version, witnesses and guarded environments ask for checks that this program does not have. */
function requireSupported(body: unknown): void {
  const { v, witnesses, quorum, freshHours, guarded } = (body ?? {}) as Record<string, unknown>
  if (v !== 1) throw new CryptoError('directory_unsupported', 'the root has another version')
  if (!isEmptyList(witnesses) || quorum !== 0 || freshHours !== 0)
    throw new CryptoError('directory_unsupported', 'the root has witnesses')
  if (!isEmptyObject(guarded)) throw new CryptoError('directory_unsupported', 'the root has guarded environments')
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

function requireReachable({ version, prev, threshold: needed, signers, rescue }: RootBody): void {
  if ((version === 1) !== (prev === null)) throw malformed('only the first root has no root before it')
  if (new Set(signers.map(({ kid }) => kid)).size < signers.length) throw malformed('a signer is named twice')
  if (needed > personsOf(signers).size) throw malformed('the threshold is higher than the number of persons')
  if (rescue === null) return
  if (new Set(rescue.keys.map(({ kid }) => kid)).size < rescue.keys.length)
    throw malformed('a rescue key is named twice')
  if (rescue.threshold > rescue.keys.length)
    throw malformed('the threshold of the rescue keys is higher than their number')
}

const personsOf = (signers: readonly RootSigner[]): Set<string> =>
  new Set(signers.flatMap((signer) => ('person' in signer ? [signer.person] : [])))

/** The ids of the people and tokens that may sign where `needed` signatures are. A token counts only where one is enough. */
export const namesOf = (signers: readonly RootSigner[], needed: number): string[] => [
  ...new Set(signers.flatMap((signer) => ('person' in signer ? [signer.person] : needed === 1 ? [signer.token] : []))),
]

/** Counts each person once, however many keys they have. */
const countOf = (signers: readonly RootSigner[], kids: ReadonlySet<string>, needed: number): number =>
  namesOf(
    signers.filter(({ kid }) => kids.has(kid)),
    needed,
  ).length

async function requireOwnSignatures(document: RootDocument): Promise<void> {
  const { threshold: needed, signers, version } = document.body
  const count = countOf(signers, await validKids(document, signers), needed)
  if (count < needed)
    throw new DirectoryError('directory_unsigned', {
      expected: `root ${version} with ${needed} of its own signers`,
      came: String(count),
      signers: namesOf(signers, needed),
    })
}

/**
 * Checks that a root follows another one: the same organization and nonce, the next version, the hash of the one before,
 * and its agreement. Enough signers of the root before must have signed, or enough of its rescue keys. `next` comes from
 * {@link openRoot}.
 *
 * @throws DirectoryError `directory_other_org`, `directory_broken_chain`, `directory_unsigned`.
 */
export async function requireNextRoot(before: RootDocument, next: RootDocument): Promise<void> {
  const [old, body] = [before.body, next.body]
  if (body.org !== old.org) throw new DirectoryError('directory_other_org', { expected: old.org, came: body.org })
  const broken = (expected: string, came: string) => new DirectoryError('directory_broken_chain', { expected, came })
  if (body.version !== old.version + 1) throw broken(`root ${old.version + 1}`, `root ${body.version}`)
  if (body.prev !== before.hash) throw broken(`a root after ${before.hash}`, `one after ${body.prev}`)
  if (body.nonce !== old.nonce) throw broken(`the nonce ${old.nonce}`, body.nonce)
  if (body.issuedAt < old.issuedAt)
    throw broken(`a root dated ${timeText(old.issuedAt)} or later`, timeText(body.issuedAt))
  await requireAgreement(old, next)
}

async function requireAgreement({ version, threshold: needed, signers, rescue }: RootBody, next: RootDocument) {
  const kids = await validKids(next, [...signers, ...(rescue?.keys ?? [])])
  const count = countOf(signers, kids, needed)
  const rescuers = rescue?.keys.filter(({ kid }) => kids.has(kid)).length ?? 0
  if (count >= needed || (rescue !== null && rescuers >= rescue.threshold)) return
  const orRescue = rescue === null ? '' : ` or ${rescue.threshold} of its rescue keys`
  throw new DirectoryError('directory_unsigned', {
    expected: `${needed} signers of root ${version}${orRescue}`,
    came: rescue === null ? String(count) : `${count} signers and ${rescuers} rescue keys`,
    signers: namesOf(signers, needed),
  })
}
