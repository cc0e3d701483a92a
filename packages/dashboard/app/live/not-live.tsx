import { useLive } from './state.ts'

/** Says that the page may be out of date. It is quiet: the page goes on working, and reloads when the stream is back. */
export function NotLive() {
  const isLive = useLive((live) => live.isLive)
  return (
    <p className="side-live" role="status" aria-live="polite">
      {!isLive && 'Not live: reconnecting'}
    </p>
  )
}
