import type { LiveEvent } from '@skerry/contract/live/events'
import { until } from './until.ts'

/** An open stream of events, read by a test. */
export interface LiveStream {
  status: number
  /** The events until now, the oldest first. */
  events: LiveEvent[]
  /** Everything that was received. */
  text: () => string
  isEnded: () => boolean
  /** The first event that matches, as soon as it comes. */
  find: (what: string, matches: (event: LiveEvent) => boolean) => Promise<LiveEvent>
  /** The actions of all changes until now. */
  actions: () => string[]
  close: () => void
}

const tails: LiveStream[] = []

/** Closes the streams that tests have left open. */
export const closeStreams = (): void => {
  for (const stream of tails.splice(0)) stream.close()
}

/** Opens a stream and waits for its first event, or for the refusal. */
export async function openStream(
  url: string,
  orgId: string,
  as: string,
  headers: Record<string, string> = {},
): Promise<LiveStream> {
  const hangUp = new AbortController()
  const response = await fetch(`${url}/v1/orgs/${orgId}/events`, {
    headers: { authorization: as, ...headers },
    signal: hangUp.signal,
  })
  const events: LiveEvent[] = []
  let text = ''
  let ended = false
  const read = async () => {
    const decoder = new TextDecoder()
    let read = 0
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true })
      for (let at = text.indexOf('\n\n', read); at >= 0; at = text.indexOf('\n\n', read)) {
        const block = text.slice(read, at)
        read = at + 2
        const type = /^event: (.*)$/m.exec(block)?.[1]
        const data = /^data: (.*)$/m.exec(block)?.[1]
        if (type !== undefined && data !== undefined) events.push({ type, data: JSON.parse(data) } as LiveEvent)
      }
    }
  }
  read()
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  const stream: LiveStream = {
    status: response.status,
    events,
    text: () => text,
    isEnded: () => ended,
    find: (what, matches) => until(what, () => events.find(matches)),
    actions: () => events.flatMap((event) => (event.type === 'change' ? [event.data.action] : [])),
    close: () => hangUp.abort(),
  }
  tails.push(stream)
  if (response.status === 200) await stream.find('hello', ({ type }) => type === 'hello')
  else await until('the refusal', () => ended)
  return stream
}

/** Matches a change with this action. */
export const isChange =
  (action: string) =>
  (event: LiveEvent): boolean =>
    event.type === 'change' && event.data.action === action
