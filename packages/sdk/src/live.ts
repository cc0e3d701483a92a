import type { LiveChange, LiveEvent, Presence } from '@skerry/contract/live/events'
import type { Client } from './client.ts'
import { invalid, SkerryError, UnavailableError } from './errors.ts'
import { sleep } from './transport.ts'

export type { LiveChange, LiveEvent, Presence }

/** The settings of `follow`. */
export interface FollowOptions {
  /** The id of the organization. */
  orgId: string
  /** Called for each stored change that the caller may see. A change contains only ids and the name of an action. */
  onChange?: (change: LiveChange) => void
  /**
   * Called if the list of people who look at an application in the dashboard has changed. If an installation runs
   * several servers, each server lists only the people who are connected to this server.
   */
  onPresence?: (presence: Presence) => void
  /**
   * Called when the stream begins, and when the stream begins again after an interruption. The stream does not contain
   * the changes from before it began. Therefore, in this function, fetch from the server everything that you show.
   */
  onGap: () => void
  /**
   * Called when the stream is interrupted, before `follow` opens the stream again. The error is null if the server
   * ended the stream.
   */
  onLost?: (error: UnavailableError | null) => void
  /** If you abort this signal, `follow` returns. */
  signal?: AbortSignal
}

const firstWaitMs = 1000
const longestWaitMs = 30_000
/** The server sends something every 20 s. A stream that is silent for longer has lost its connection. */
const silentMs = 45_000

/**
 * Opens an event stream of an organization, and calls your functions for each event, until you abort the signal. If the
 * stream is interrupted, the function opens it again after a pause. The pauses grow from 1 s to 30 s. Each pause is up
 * to 50 % longer or shorter, so that many clients do not connect at the same time.
 *
 * @throws RefusedError if the server refuses the stream, for example because the token was revoked; SkerryError
 *   `old_server` if the server has no event streams, `malformed_answer` if an event is not valid, `invalid_request` if
 *   `orgId` is empty; the errors of your functions.
 * @example
 * await follow(client, { orgId, signal, onGap: () => console.info('read again'), onChange: ({ action }) => console.log(action) })
 */
export async function follow(client: Client, options: FollowOptions): Promise<void> {
  const { orgId, onLost, signal } = options
  if (orgId === '') throw invalid('orgId: must name an organization')
  for (let failures = 0; !signal?.aborted; failures++) {
    let lost: UnavailableError | null = null
    try {
      for await (const event of eventsOf(client, orgId, signal)) {
        // The stream works, so the pause after the next failure is short again.
        failures = 0
        tell(options, event)
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof UnavailableError)) throw error
      lost = error
    }
    if (signal?.aborted) return
    onLost?.(lost)
    await sleep(Math.min(firstWaitMs * 2 ** failures, longestWaitMs) * (0.5 + Math.random()), signal).catch(() => {})
  }
}

function tell({ onChange, onPresence, onGap }: FollowOptions, event: LiveEvent): void {
  if (event.type === 'hello') onGap()
  else if (event.type === 'change') onChange?.(event.data)
  else onPresence?.(event.data)
}

/** Reads one stream to its end. Hangs up when the caller stops reading, or when the server is silent for too long. */
async function* eventsOf(client: Client, orgId: string, signal: AbortSignal | undefined): AsyncGenerator<LiveEvent> {
  const hangUp = new AbortController()
  const all = signal ? AbortSignal.any([signal, hangUp.signal]) : hangUp.signal
  let silent = setTimeout(() => hangUp.abort(), silentMs)
  try {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of await client.stream('live', 'events', { params: { orgId } }, { signal: all })) {
      clearTimeout(silent)
      silent = setTimeout(() => hangUp.abort(), silentMs)
      text += decoder.decode(piece, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      if (text.length > eventCharactersMax) throw malformed()
      for (const block of blocks) {
        const event = parseEvent(block)
        if (event) yield event
      }
    }
  } catch (error) {
    if (!hangUp.signal.aborted || signal?.aborted) throw error
    throw new UnavailableError('timeout', 'the server sent nothing for 45 seconds')
  } finally {
    clearTimeout(silent)
    hangUp.abort()
  }
}

/** No event of a server is nearly as long. */
const eventCharactersMax = 1024 * 1024

const malformed = () => new SkerryError('malformed_answer', 'the server’s event stream is not valid')

/** Comments and events of later versions give undefined. */
function parseEvent(block: string): LiveEvent | undefined {
  const type = /^event: (.*)$/m.exec(block)?.[1]
  const data = /^data: (.*)$/m.exec(block)?.[1]
  if (data === undefined || (type !== 'hello' && type !== 'change' && type !== 'presence')) return undefined
  try {
    return { type, data: JSON.parse(data) } as LiveEvent
  } catch {
    throw malformed()
  }
}
