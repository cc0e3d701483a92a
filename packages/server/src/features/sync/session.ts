import { type SyncConfig, type SyncDestination, type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { vendorName } from '@skerry/contract/vendors'
import { OutboundError } from '@skerry/providers/outbound'
import { ProviderError, redactSecrets } from '@skerry/providers/provider-error'
import { textSearchFor } from '@skerry/providers/redaction/text'
import type { SyncEntry, SyncFacts, SyncSession } from '@skerry/providers/sync/provider'
import { syncProvider } from '@skerry/providers/sync/registry'
import type { TObject } from 'typebox'
import type { Context } from '../../http/context.ts'
import { checkShape } from '../../http/validate.ts'
import { fail } from '../../kernel/errors.ts'
import { syncOf } from '../../keys/keypairs.ts'
import type { Binding, Connection } from './scope.ts'

type Destination = Binding['destination']

/** Checks a destination against the schema of its provider, which must be the connection’s provider. */
export function checkDestination(destination: Destination, provider: SyncTag): void {
  if (destination.provider !== provider)
    throw fail('invalid_request', `body.destination.provider: the connection’s provider is ${vendorName(provider)}`)
  checkShape(destinationSchema(destination), destination, 'body.destination')
}

/** Picks the schema of the destination’s kind if the provider has several, so that a refusal names a field of it. */
function destinationSchema(destination: Destination): TObject {
  const schema = syncProviders[destination.provider].destination as TObject | { anyOf: TObject[] }
  if (!('anyOf' in schema)) return schema
  const { kind } = destination as { kind?: unknown }
  const kinds = new Map(schema.anyOf.map((one) => [(one.properties.kind as { const?: unknown }).const, one]))
  const found = kinds.get(kind)
  if (!found) throw fail('invalid_request', `body.destination.kind: one of ${[...kinds.keys()].join(', ')} expected`)
  return found
}

const withProvider = (provider: SyncTag, places: readonly string[]) =>
  [...new Set(places)].sort().map((place) => `${provider} ${place}`)

/** Returns the places under the destination’s own names, or null if the binding’s settings name them well enough. */
export async function placesThere(session: SyncSession, { provider }: Destination): Promise<string[] | null> {
  const places = await session.places?.()
  return places === undefined ? null : withProvider(provider, places)
}

/** Returns the facts about a destination. Each of its places begins with the provider’s tag. */
export async function describe(config: Connection['config'], destination: Destination): Promise<SyncFacts> {
  const provider = await syncProvider(destination.provider)
  try {
    const facts = provider.describe({
      config: config as unknown as SyncConfig<SyncTag>,
      destination: destination as unknown as SyncDestination<SyncTag>,
    })
    return { ...facts, places: withProvider(destination.provider, facts.places) }
  } catch (error) {
    if (error instanceof ProviderError) throw fail('invalid_request', `body.destination: ${error.message}`)
    throw error
  }
}

/**
 * Opens a session on the destination. The credential is decrypted for this session only. Every text from the
 * destination is redacted here, so that no secret value gets into a run, an answer or a row.
 */
export async function openDestination(
  context: Context,
  connection: Connection,
  destination: Destination,
  values: Iterable<string>,
): Promise<SyncSession> {
  const owner = syncOf(connection.orgId, connection.id)
  const opened = await context.keypairs.openWrapped(context.db, owner, connection.wrappedCredential)
  if (!opened) throw new ProviderError('invalid', 'the credential does not open under the key of the connection')
  const credential = new TextDecoder().decode(opened)
  const provider = await syncProvider(destination.provider)
  const session = provider.open(
    {
      config: connection.config as unknown as SyncConfig<SyncTag>,
      destination: destination as unknown as SyncDestination<SyncTag>,
      credential,
    },
    context.outbound,
  )
  const repeatsSecret = textSearchFor([credential, ...values])
  return filtered(session, (text) => redactSecrets(text, repeatsSecret))
}

function filtered(session: SyncSession, clean: (text: string) => string): SyncSession {
  const asked = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      if (!(error instanceof ProviderError)) throw error
      throw new ProviderError(error.reason, clean(error.message), error.retryAfterMs)
    })
  const cleaned = (entry: SyncEntry): SyncEntry =>
    entry.locked === undefined ? entry : { ...entry, locked: clean(entry.locked) }
  const look = session.look?.bind(session)
  const places = session.places?.bind(session)
  return {
    ...(places && { places: () => asked(places()) }),
    async verify() {
      const { notes } = await asked(session.verify())
      return { notes: notes.map(clean) }
    },
    list: async () => (await asked(session.list())).map(cleaned),
    ...(look && {
      async look(name: string) {
        const entry = await asked(look(name))
        return entry && cleaned(entry)
      },
    }),
    async push(changes) {
      const outcome = await asked(session.push(changes))
      return { ...outcome, failed: outcome.failed.map((one) => ({ ...one, reason: clean(one.reason) })) }
    },
  }
}

/** A failed call to a provider: the provider refused it, or the network failed. */
export interface Refusal {
  message: string
  /** True if the destination rejects the credential, or the credential lacks a permission. */
  denied: boolean
  /** True if the answer was lost, so that the request may have been done. */
  isLost: boolean
  /** Whether a retry may help: soon, later, or never. */
  when: 'soon' | 'later' | 'never'
  retryAfterMs: number
}

/** Returns undefined for an error in our own code. */
export function providerError(error: unknown): Refusal | undefined {
  if (error instanceof OutboundError)
    return { message: error.message, denied: false, isLost: true, when: 'soon', retryAfterMs: 0 }
  if (!(error instanceof ProviderError)) return undefined
  const { reason, message, retryAfterMs = 0 } = error
  const known = { message, denied: reason === 'denied', isLost: reason === 'unreachable', retryAfterMs }
  if (reason === 'rate_limited' || reason === 'unreachable') return { ...known, when: 'soon' }
  return { ...known, when: reason === 'invalid' ? 'never' : 'later' }
}

/** Turns a provider’s refusal into an error for the caller. Returns any other error unchanged. */
export function asRefusal(error: unknown): unknown {
  const known = providerError(error)
  return known ? fail('conflict', `target: ${known.message}`) : error
}
