import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { canonicalJson } from '@skerry/crypto/canonical-json'
import { fingerprint } from '@skerry/crypto/digest'
import type { RootBody, RootSigner } from '@skerry/crypto/directory/root'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { entryNames } from '@skerry/sdk/internal/directory/words'
import { Failure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable } from '../settings.ts'
import { changeRoot } from './change-root.ts'
import { ownSigner, rootSigner } from './init.ts'
import { type OldHeadFlags, openToSign } from './old-head.ts'
import { openKnown } from './open.ts'
import { requirePolicyKey, signerEntry } from './policy-keys.ts'
import { requireSigner } from './sign.ts'
import { signersOf } from './status.ts'

export interface SignerFlags extends Confirmable, OldHeadFlags {
  threshold?: string
  key?: string
}

export async function listSigners({ session, orgId }: InOrg): Promise<Output> {
  const directory = await openKnown(session, orgId, { acceptOld: true })
  const { body } = directory.root
  const rows = signersOf(body, entryNames(directory))
  return {
    json: { threshold: body.threshold, signers: rows },
    text: () => {
      writeTable(
        ['signer', 'kind', 'id'],
        rows.map(({ name, kind, id }) => [name, kind, id]),
      )
      note(`signatures that a change of the signers needs: ${body.threshold}`)
    },
  }
}

/** Prints the caller's public signing key, for a signer who adds them. */
export async function offer({ session }: InOrg): Promise<Output> {
  const signer = await rootSigner(session, await ownSigner(session))
  const text = encodeBase64url(encodeUtf8(canonicalJson(signer)))
  const words = await fingerprintWords(JSON.stringify(signer.jwk))
  return {
    json: { offer: text, fingerprint: words },
    text: () => writeLine(text),
    after: () => {
      note(`words: ${words}`)
      note(
        'send the text to a signer, and read the words out to them. They run `skerry trust signers add <you> --key <key>`',
      )
    },
  }
}

export async function addSigner(
  who: string,
  { session, flags, orgId, input: { key, threshold } }: InOrg<SignerFlags, typeof parseAdd>,
): Promise<Output> {
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  requireSigner(directory, signer)
  const nameOf = entryNames(directory)
  const entryKey = signerEntry(key)
  if (who !== nameOf(entryKey) && !entryKey.endsWith(`/${who}`))
    throw new Failure('refused', `this key is offered by ${nameOf(entryKey)}, not by ${who}`, 'ask for the right text')
  if ((await fingerprint(JSON.stringify(key.jwk))) !== key.kid) throw notAnOffer()
  requirePolicyKey(directory, key)
  note(`words of the signing key of ${who}: ${await fingerprintWords(JSON.stringify(key.jwk))}`)
  await confirmOrRefuse(
    `lets ${who} sign the directory. Compare the words with them first, and not through this server`,
    flags,
  )
  const others = directory.root.body.signers.filter(({ kid }) => kid !== key.kid)
  return changeRoot(session, directory, { signers: [...others, key], ...threshold }, [signer])
}

export async function removeSigner(
  who: string,
  { session, flags, orgId, input: threshold }: InOrg<SignerFlags, typeof parseThreshold>,
): Promise<Output> {
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  requireSigner(directory, signer)
  const { body } = directory.root
  const kids = findKids(body, directory, who)
  const rest = body.signers.filter(({ kid }) => !kids.has(kid))
  const needed = threshold.threshold ?? body.threshold
  if (personsIn(rest) < needed)
    throw new Failure(
      'conflict',
      `without ${who} the directory has ${personsIn(rest)} of the ${needed} people whose signatures it needs`,
      'add another signer with `skerry trust signers add` first, or give --threshold',
    )
  await confirmOrRefuse(
    `takes ${who} from the signers. Tokens with a pin from before still trust their signatures`,
    flags,
  )
  return changeRoot(session, directory, { signers: rest, ...threshold }, [signer])
}

export async function editSigners({
  session,
  flags,
  orgId,
  input: threshold,
}: InOrg<SignerFlags, typeof parseThreshold>): Promise<Output> {
  if (threshold.threshold === undefined)
    throw usage('--threshold is missing', 'give the number of people who must agree')
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  requireSigner(directory, signer)
  const persons = personsIn(directory.root.body.signers)
  if (threshold.threshold > persons)
    throw new Failure(
      'conflict',
      `the directory has only ${persons} people who sign`,
      'add others with `skerry trust signers add`',
    )
  return changeRoot(session, directory, threshold, [signer])
}

const personsIn = (signers: readonly RootSigner[]): number =>
  new Set(signers.flatMap((one) => ('person' in one ? [one.person] : []))).size

function findKids(body: RootBody, directory: Parameters<typeof entryNames>[0], who: string): Set<string> {
  const found = signersOf(body, entryNames(directory)).filter(({ name, id }) => name === who || id === who)
  if (found.length === 0) throw new Failure('notFound', `${who} is no signer`, 'see `skerry trust signers`')
  return new Set(found.map(({ kid }) => kid))
}

export function parseThreshold({ threshold }: SignerFlags): { threshold?: number } {
  if (threshold === undefined) return {}
  if (/^[1-8]$/.test(threshold)) return { threshold: Number(threshold) }
  throw usage(`--threshold must be a whole number from 1 to 8 (you gave '${threshold}')`)
}

export function parseAdd(flags: SignerFlags): { key: RootSigner; threshold: { threshold?: number } } {
  const threshold = parseThreshold(flags)
  if (flags.key === undefined)
    throw usage('--key is missing', 'ask the person for the text that `skerry trust signers offer` prints for them')
  return { key: parseOffer(flags.key), threshold }
}

function parseOffer(text: string): RootSigner {
  try {
    const signer = JSON.parse(decodeUtf8(decodeBase64url(text))) as RootSigner
    if (typeof signer.kid === 'string' && typeof signer.jwk === 'object' && ('person' in signer || 'token' in signer))
      return signer
  } catch {
    // The error below reports it.
  }
  throw notAnOffer()
}

const notAnOffer = () =>
  usage('this is not an offered signing key', 'copy all of the text that `skerry trust signers offer` prints')
