import { formatPin, parsePin, type RootPin } from '@skerry/crypto/directory/pin'
import type { KnownDirectory } from '@skerry/crypto/directory/verify'
import type { TokenFormat } from '@skerry/crypto/token'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Client } from '../client.ts'
import { invalid } from '../errors.ts'
import type { ParsedBody, ResolveQuery } from '../resolve-body.ts'
import type { Copy } from '../sealed-copy.ts'
import { explainOlder, mismatch, trustedQuery } from './answer.ts'
import { type CheckedAnswer, checkKeys, checkLayers, expectedOf, verifyShown } from './check.ts'
import { fetchEntries } from './entries.ts'
import { type CopyProof, type DirectorySettings, processMemory } from './memory.ts'

/** The members of a query that ask for the proof, and the trust that the answer must continue. */
interface Asked {
  query: { proof: '1'; root?: string[]; head?: number }
  known: KnownDirectory | null
}

/** A body whose layers and keys are those of the signed directory. */
interface Proven {
  body: ParsedBody
  holder: KeyHolder
  proof: CopyProof
}

/** The trust under which an answer is verified, and the time at which. */
interface Proving {
  known: KnownDirectory | null
  /** Unix seconds. */
  time: number
  /** The name that a stored copy is about. */
  name?: string
  isLive: boolean
}

/** Verifies the resolve answers of one credential. */
export interface DirectoryReader {
  /** Undefined if this client trusts nothing about the organization. The request and the answer are then as ever. */
  ask(): Promise<Asked | undefined>
  /** Whether the answer is of an organization that this client knows, although the request did not ask for the proof. */
  mustAskAgain(text: string, asked: Asked | undefined): Promise<boolean>
  /** Whether the server may answer that a copy has not changed: it was verified, and no later head is known. */
  isNewest(copy: Copy, asked: Asked | undefined): boolean
  /** Whether a copy can be used at all: it was verified, or this client trusts nothing. */
  isUsable(copy: Copy): Promise<boolean>
  /** Replaces the refusal of a server that knows no directories. Another error stays as it is. */
  explain(error: unknown, asked: Asked): unknown
  /** Verifies a live answer as `proveAnswer` does, but opens no key. */
  proveLayers(body: ParsedBody, asked: Asked): Promise<ParsedBody>
  /** Verifies a live answer, and remembers its head. */
  proveAnswer(body: ParsedBody, holder: KeyHolder, asked: Asked): Promise<Proven>
  /** Verifies a copy again, under the trust that it was stored with. Nothing is remembered. */
  proveCopy(body: ParsedBody, holder: KeyHolder, proof: CopyProof): Promise<Proven>
}

interface Opening {
  settings: DirectorySettings
  query: ResolveQuery
  client: Client
  /** Null for a person. */
  token: { id: string; format: TokenFormat } | null
  now: () => number
  warn: (message: string) => void
}

/**
 * Adds the pin and the environment that a token carries.
 *
 * @throws SkerryError `invalid_request` if the token is for another environment than the settings name.
 */
export function withToken(
  settings: DirectorySettings = {},
  token: { pin?: RootPin; environment?: string | null } = {},
): DirectorySettings {
  const { pin, environment } = token
  const { name } = settings
  if (environment && name !== undefined && name.split('@')[0] !== environment)
    throw invalid(`directory.name: this token is for ${environment}, not for ${name}`)
  const pins = [...(pin ? [formatPin(pin)] : []), ...(settings.pins ?? [])]
  return { ...settings, pins, ...(environment && name === undefined ? { name: environment } : {}) }
}

export function openDirectoryReader({ settings, query, client, token, now, warn }: Opening): DirectoryReader {
  const pins = (settings.pins ?? []).map(parsePin)
  const memory = settings.memory ?? processMemory()
  const { strict = false } = settings
  let org = settings.org

  const trusting = (known: KnownDirectory | null, time: number) =>
    ({ pins, known, org: settings.org, token: token?.format, now: time, purpose: 'read' }) as const

  const nameFrom = async (orgId: string): Promise<string> => {
    if (token === null) throw invalid('directory.name: the client of a person must say which environment it asked for')
    const key = `token/${token.id}` as const
    const trust = { pins, memory, token: token.format, purpose: 'read', now } as const
    const { verified, get } = await fetchEntries(client, orgId, [key], trust)
    const name = get(key)?.value.environment
    if (name) return name
    throw mismatch(verified, `${key} with the environment that it is bound to`, name === null ? 'none' : 'no entry')
  }

  const check = async (
    body: ParsedBody,
    { known, time, name: given, isLive }: Proving,
  ): Promise<{ checked: CheckedAnswer; name: string }> => {
    const shown = await verifyShown(body.shown, trusting(known, time))
    const { verified } = shown
    if (isLive) await memory.write(verified.root.org, verified.known)
    const asked = settings.name ?? given ?? (await nameFrom(verified.root.org))
    const [name = '', branchName] = asked.split('@')
    const branch = branchName ?? branchOf(query, body)
    const wanted = { name, branch, query, strict, warn: settings.warn ?? warn }
    return { checked: await checkLayers(body, shown, wanted), name: asked }
  }

  const prove = async (body: ParsedBody, holder: KeyHolder, proving: Proving): Promise<Proven> => {
    const { checked, name } = await check(body, proving)
    const proof = { before: proving.known, after: checked.verified.known, name }
    return { body: checked.body, holder: await checkKeys(checked, holder, proving.time * 1000), proof }
  }

  return {
    async ask() {
      const known = org === undefined ? null : await memory.read(org)
      if (pins.length === 0 && known === null) return undefined
      return { query: { proof: '1', ...trustedQuery(pins, known) }, known }
    },
    async mustAskAgain(text, asked) {
      if (org !== undefined) return false
      org = orgOf(text)
      return org !== undefined && (asked?.known ?? null) === null && (await memory.read(org)) !== null
    },
    isNewest: ({ proof }, asked) =>
      asked === undefined ||
      (proof !== undefined && (asked.known === null || asked.known.head.hash === proof.after.head.hash)),
    async isUsable({ proof, text }) {
      if (proof !== undefined) return true
      const about = org ?? orgOf(text)
      return pins.length === 0 && (about === undefined || (await memory.read(about)) === null)
    },
    explain: (error, { known }) => explainOlder(error, expectedOf(trusting(known, now() / 1000))),
    proveLayers: async (body, { known }) =>
      (await check(body, { known, time: now() / 1000, isLive: true })).checked.body,
    proveAnswer: (body, holder, { known }) => prove(body, holder, { known, time: now() / 1000, isLive: true }),
    async proveCopy(body, holder, { before, after, name }) {
      const newest = await memory.read(after.org)
      const time = Math.max(now() / 1000, newest?.time ?? 0)
      return prove(body, holder, { known: before, time, name, isLive: false })
    },
  }
}

/** A branch that was asked for by its id has the name in the answer: its manifest ties the name to the id. */
function branchOf(query: ResolveQuery, { layers }: ParsedBody): string | undefined {
  const { branch, env } = query
  const shown = layers.find(({ source }) => source === 'branch')
  const isNamedById = shown !== undefined && [branch, env].includes(shown.environmentId)
  return isNamedById ? shown.slug : branch
}

function orgOf(text: string): string | undefined {
  try {
    const orgId: unknown = JSON.parse(text).scope.orgId
    return typeof orgId === 'string' ? orgId : undefined
  } catch {
    // The answer is refused when it is parsed.
  }
}
