import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { newRescueCode, signerOfRescueCode } from '@skerry/crypto/directory/signing'
import { Failure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { pageAddress } from '../help/page-address.ts'
import { readStdin } from '../input.ts'
import { isTerminal, note, type Output, writeLine } from '../output.ts'
import { askHidden, confirmOrRefuse } from '../prompt.ts'
import type { Confirmable } from '../settings.ts'
import { changeRoot } from './change-root.ts'
import { ownSigner, rootSigner } from './init.ts'
import { type OldHeadFlags, openToSign } from './old-head.ts'
import { requireSigner } from './sign.ts'

export interface RescueFlags extends Confirmable, OldHeadFlags {
  codes: string
  threshold: string
}

/** Makes rescue codes, and shows each once. They replace the codes from before. */
export async function createRescue({
  session,
  flags,
  orgId,
  input: { count, threshold },
}: InOrg<RescueFlags, typeof parseRescue>): Promise<Output> {
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  requireSigner(directory, signer)
  const before = directory.root.body.rescue
  const replaces = before ? '. The codes from before stop working' : ''
  await confirmOrRefuse(
    `makes ${count} rescue codes, of which ${threshold} together can replace all signers${replaces}`,
    flags,
  )
  const codes = await Promise.all(Array.from({ length: count }, newRescueCode))
  const keys = await Promise.all(codes.map(signerOfRescueCode))
  const rescue = { threshold, keys: keys.map(({ kid, jwk }) => ({ kid, alg: 'ES256', jwk }) as const) }
  const changed = await changeRoot(session, directory, { rescue }, [signer])
  return {
    json: { codes, threshold, ...(changed.json as object) },
    text: async () => {
      for (const code of codes) writeLine(code)
      await changed.text?.()
    },
    after: async () => {
      await changed.after?.()
      note(`print each code and give it to another person. ${threshold} of them are needed; nobody can show them again`)
    },
  }
}

export function parseRescue({ codes, threshold }: RescueFlags): { count: number; threshold: number } {
  const count = wholeNumber('--codes', codes, 32)
  const needed = wholeNumber('--threshold', threshold, 8)
  if (needed > count) throw usage('--threshold must be at most the number of codes')
  return { count, threshold: needed }
}

function wholeNumber(option: string, text: string, max: number): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= max) return Number(text)
  throw usage(`${option} must be a whole number from 1 to ${max} (you gave '${text}')`)
}

/** Makes the caller the only signer, with rescue codes: for an organization whose signers are lost. */
export async function useRescue({ session, flags, orgId }: InOrg<Confirmable & OldHeadFlags>): Promise<Output> {
  const signer = await ownSigner(session)
  const directory = await openToSign(session, orgId, flags)
  const { rescue } = directory.root.body
  if (!rescue)
    throw new Failure(
      'conflict',
      'this directory has no rescue codes',
      `a signer has to add you; without any signer the directory cannot be continued: ${pageAddress('docs/trust.md')}`,
    )
  const keys = await readCodes(rescue.threshold, new Set(rescue.keys.map(({ kid }) => kid)))
  await confirmOrRefuse('makes you the only signer of the directory. All signers from before lose their right', flags)
  const own = await rootSigner(session, signer)
  return changeRoot(session, directory, { signers: [own], threshold: 1 }, [signer, ...keys])
}

/** Reads as many codes as are needed, from stdin or from hidden prompts. */
async function readCodes(needed: number, known: ReadonlySet<string>): Promise<DirectorySigner[]> {
  const typed = isTerminal.stdin()
    ? await askEach(needed)
    : readStdin()
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean)
  const keys = await Promise.all(typed.map((code) => signerOfRescueCode(code).catch(() => mistyped())))
  const valid = keys.filter(({ kid }, at) => known.has(kid) && keys.findIndex((one) => one.kid === kid) === at)
  if (valid.length >= needed) return valid
  throw new Failure(
    'refused',
    `${needed} rescue codes of this directory are needed, and ${valid.length} of yours are among them`,
    'check that the codes are the newest ones',
  )
}

async function askEach(needed: number): Promise<string[]> {
  const codes: string[] = []
  while (codes.length < needed) codes.push(await askHidden(`Rescue code ${codes.length + 1} of ${needed}`))
  return codes
}

function mistyped(): never {
  throw usage('one of these is not a rescue code', 'check its 28 characters, seven groups of four')
}
