import { operations } from '@skerry/contract/operations.gen'
import type { Client, TypedNames } from '../client.ts'
import { RefusedError } from '../errors.ts'
import { DirectoryDraft, type SignerContext } from './draft.ts'
import { afterwardEdits, changingEdits } from './edits.ts'
import type { SignedDirectory } from './open.ts'
import { type SignedStep, type SigningClient, signedChange, type Trust } from './signing.ts'

/** The signer's side of a signing client, for one organization. */
export interface Signatory extends SigningClient {
  context: SignerContext
  /** Is told what was signed, after the server has stored it. */
  onSigned: (signed: { before: SignedDirectory; step: SignedStep; draft: DirectoryDraft }) => void | Promise<void>
  /** Is told of entries that a change made wrong and that were not signed. `reason` is the server's refusal, if there is one. */
  onUnsigned: (keys: readonly string[], reason?: string) => void
}

/** Finds the signatory of an organization; null if it has no directory, or if the caller does not sign it. */
export type FindSignatory = (orgId: string, operation: string) => Promise<Signatory | null>

type Loose = { params?: Record<string, string>; query?: object; body?: object }
type LooseCall = (input: Loose, options?: unknown) => Promise<unknown>

/**
 * Makes a client whose changes are signed: each operation that changes an entry of the directory carries the new entry and
 * the next head. All other operations are those of `client`.
 *
 * A change is never refused because of the directory alone. If it cannot be signed, it goes through without documents, and
 * `onUnsigned` is called.
 *
 * @example
 * const signing = signingClient(client, async () => null) // signs nothing
 * await signing.envs.delete({ params: { orgId, envId } })
 */
export function signingClient(client: Client, find: FindSignatory): Client {
  const calls = client as unknown as Record<string, Record<string, LooseCall>>
  const headings = Object.entries(operations).flatMap(([heading, table]) => {
    const signed = Object.keys(table).flatMap((name) => {
      const call = calls[heading]![name]!
      const operation = `${heading}.${name}`
      if (Object.hasOwn(changingEdits, operation)) return [[name, signWith(operation, call, find)]]
      if (Object.hasOwn(afterwardEdits, operation)) return [[name, signAfter(operation, call, find)]]
      return []
    })
    return signed.length === 0 ? [] : [[heading, Object.freeze({ ...calls[heading], ...Object.fromEntries(signed) })]]
  })
  return Object.freeze({ ...client, ...Object.fromEntries(headings) }) as Client
}

const inputOf = (input: Loose) =>
  ({ params: {}, query: {}, body: {}, ...input }) as Required<Loose> & {
    query: Record<string, unknown>
    body: Record<string, unknown>
  }

const typedOf = (options: unknown): TypedNames => (options as { typed?: TypedNames } | undefined)?.typed ?? {}

function withNames(draft: DirectoryDraft, typed: TypedNames): DirectoryDraft {
  draft.typed = typed
  return draft
}

/** Puts the documents into the request of the change. */
const signWith =
  (operation: string, call: LooseCall, find: FindSignatory): LooseCall =>
  async (input, options) => {
    const signatory = await find(input.params?.orgId ?? '', operation)
    if (!signatory) return call(input, options)
    const send = (trust?: Trust) => call(trust ? { ...input, body: { ...input.body, trust } } : input, options)
    const typed = typedOf(options)
    const make = (draft: DirectoryDraft) => changingEdits[operation]!(inputOf(input), withNames(draft, typed))
    let draft: DirectoryDraft | undefined
    try {
      const {
        before,
        step,
        answer,
        draft: made,
      } = await withDraft(signatory, make, (trust, current) => {
        draft = current
        return send(trust)
      })
      if (step) await signatory.onSigned({ before, step, draft: made })
      if (made.unsigned.size > 0) signatory.onUnsigned([...made.unsigned])
      return answer
    } catch (error) {
      if (!draft || !isMismatch(error)) throw error
      // The facts of the server differ from those that the change should make. The change itself is still wanted.
      const answer = await send()
      if (Object.hasOwn(afterwardEdits, operation)) {
        await signNow(signatory, (made) => afterwardEdits[operation]!(inputOf(input), withNames(made, typed), answer))
        return answer
      }
      signatory.onUnsigned([...new Set([...draft.entries.keys(), ...draft.unsigned])], error.message)
      return answer
    }
  }

/** Signs right after the change. */
const signAfter =
  (operation: string, call: LooseCall, find: FindSignatory): LooseCall =>
  async (input, options) => {
    const signatory = await find(input.params?.orgId ?? '', operation)
    const answer = await call(input, options)
    if (!signatory) return answer
    await signNow(signatory, (draft) =>
      afterwardEdits[operation]!(inputOf(input), withNames(draft, typedOf(options)), answer),
    )
    return answer
  }

/**
 * Signs an edit by itself, after the change that it is about. It never throws, because the change is done: `onUnsigned` is
 * called.
 */
export async function signNow(
  signatory: Signatory,
  make: (draft: DirectoryDraft) => Promise<void> | void,
): Promise<void> {
  const { client, orgId } = signatory
  let unsigned: readonly string[] = []
  try {
    const { before, step, draft } = await withDraft(signatory, make, async (trust, made) => {
      unsigned = [...made.unsigned]
      if (trust) await client.directory.put({ params: { orgId }, body: trust })
    })
    if (step) await signatory.onSigned({ before, step, draft })
    if (unsigned.length > 0) signatory.onUnsigned(unsigned)
  } catch (error) {
    signatory.onUnsigned(unsigned, error instanceof Error ? error.message : undefined)
  }
}

/** Makes the edit from a draft, and sends it. The next change of this client begins with the directory after this one. */
async function withDraft<T>(
  signatory: Signatory,
  make: (draft: DirectoryDraft) => Promise<void> | void,
  send: (trust: Trust | undefined, draft: DirectoryDraft) => Promise<T>,
): Promise<{ before: SignedDirectory; step: SignedStep | null; draft: DirectoryDraft; answer: T }> {
  let draft!: DirectoryDraft
  let last: SignedStep | null = null
  const edit = async (directory: SignedDirectory) => {
    draft = new DirectoryDraft(directory, signatory.context)
    await make(draft)
    return { entries: draft.entries, root: draft.root }
  }
  const { answer, directory } = await signedChange(signatory, edit, (trust, step) => {
    last = step
    return send(trust, draft)
  })
  const before = draft.directory
  signatory.directory = directory
  return { before, step: last, draft, answer }
}

/** The server refuses the entries, and not the change: its facts differ from those that were signed. */
const isMismatch = (error: unknown): error is RefusedError =>
  error instanceof RefusedError && error.code === 'conflict' && error.message.startsWith('body.trust.entries: ')
