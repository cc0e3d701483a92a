import { SkerryError } from '@skerry/sdk/errors'
import { follow, type LiveChange, type Presence } from '@skerry/sdk/live'
import { api } from '../api.ts'
import { Cancelled } from '../prompts.ts'
import { meQuery, orgQueries, queryClient, type Stale } from '../queries.ts'
import { session } from '../session.ts'
import { reload, staleBy } from './stale.ts'
import { liveState } from './state.ts'

// The stream of an organization is open in a single tab of the browser, which tells the others. A lock decides which tab: when it
// closes, the next one takes over. The session's token stays in its tab.

type Message =
  | { type: 'change'; change: LiveChange }
  | { type: 'presence'; presence: Presence }
  | { type: 'gap' }
  | { type: 'lost' }
  /** A tab that was just opened asks for the present state. */
  | { type: 'ask' }

/** Changes that come together, such as those of an approved proposal, reload the page once. */
const togetherMs = 100

let watched: { orgId: string; stop: () => void } | null = null

/** Follows the changes of an organization, and stops following any other. Does nothing if it is followed already. */
export function watchOrg(orgId: string): void {
  if (watched?.orgId === orgId) return
  stopWatching()
  const stopping = new AbortController()
  const channel = new BroadcastChannel(`skerry-live ${orgId}`)
  const hear = hearing(orgId)
  const tell = (message: Message) => {
    channel.postMessage(message)
    hear(message)
  }
  let isHolder = false
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type !== 'ask') return hear(data)
    if (!isHolder) return
    for (const presence of liveState.people()) channel.postMessage({ type: 'presence', presence } satisfies Message)
    if (!liveState.isLive()) channel.postMessage({ type: 'lost' } satisfies Message)
  }
  channel.postMessage({ type: 'ask' } satisfies Message)
  const hold = async () => {
    isHolder = true
    await follow(api, {
      orgId,
      signal: stopping.signal,
      onChange: (change) => tell({ type: 'change', change }),
      onPresence: (presence) => tell({ type: 'presence', presence }),
      onGap: () => tell({ type: 'gap' }),
      onLost: () => tell({ type: 'lost' }),
    })
  }
  navigator.locks.request(`skerry-live ${orgId}`, { signal: stopping.signal }, hold).catch((error) => {
    // A refusal ends the stream, and the next request of the page shows the error. Older servers have no event stream.
    if (!(stopping.signal.aborted || error instanceof SkerryError || error instanceof Cancelled)) throw error
  })
  watched = {
    orgId,
    stop: () => {
      stopping.abort()
      channel.close()
    },
  }
}

function stopWatching(): void {
  watched?.stop()
  watched = null
  liveState.reset()
}

session.onEnd(stopWatching)

/** Makes the listener of a tab: it reloads queries, and keeps what pages show. */
function hearing(orgId: string): (message: Message) => void {
  let stale = new Map<string, Stale>()
  let receivedAtMs = 0
  const reloadNow = () => {
    const due = [...stale.values()]
    stale = new Map()
    reload(due, receivedAtMs)
  }
  const reloadSoon = (queries: readonly Stale[]) => {
    if (stale.size === 0) setTimeout(reloadNow, togetherMs)
    receivedAtMs = Date.now()
    for (const query of queries) stale.set(JSON.stringify(query.queryKey), query)
  }
  return (message) => {
    if (message.type === 'change') {
      reloadSoon(staleBy(orgId, message.change))
      if (changesOwnRights(message.change)) reloadSoon([meQuery])
      if (message.change.actorId !== ownId()) liveState.note(message.change)
    } else if (message.type === 'presence') liveState.setPeople(message.presence)
    else if (message.type === 'lost') liveState.setLive(false)
    else if (message.type === 'gap') {
      liveState.forgetPeople()
      liveState.setLive(true)
      reloadSoon([orgQueries(orgId)])
    }
  }
}

const ownId = (): string | undefined => queryClient.getQueryData(meQuery.queryKey)?.principal.id

const changesOwnRights = ({ action, resourceId }: LiveChange): boolean =>
  action.startsWith('member.') && resourceId === ownId()
