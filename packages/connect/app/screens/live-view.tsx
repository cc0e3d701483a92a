import { useState } from 'preact/hooks'
import { Refused } from '../request.ts'
import { Told, useAction } from './parts.tsx'
import type { SlotFormProps } from './slot-form-props.ts'
import { hostOf, problemOf } from './words.ts'

/**
 * Shows a browser that the executor runs. A link opens the window, because phones block windows that open by
 * themselves.
 */
export function LiveView({ session, flow }: SlotFormProps) {
  const name = session.provider.displayName
  const [url, setUrl] = useState<string | null>(null)
  const { run, isBusy, problem } = useAction((error) =>
    url !== null && error instanceof Refused && error.status === 409
      ? `You are not signed in there yet. Finish signing in to ${name} in the other window first.`
      : problemOf(error),
  )
  const start = async () => setUrl((await flow.startBrowser()) ?? null)
  return (
    <>
      <p>
        A browser at {hostOf(session.executorOrigin ?? '')} is opened for you, in another window. Sign in to {name}{' '}
        there as you always do. It stays signed in and is kept encrypted; your password is not stored.
      </p>
      <Told text={problem} />
      <div class="actions">
        {url === null ? (
          <button type="button" class="primary" disabled={isBusy} onClick={() => run(start)}>
            {isBusy ? 'Preparing…' : 'Prepare the window'}
          </button>
        ) : (
          <>
            <a class="primary" href={url} target="_blank" rel="noopener noreferrer">
              Open the window to sign in
            </a>
            <button type="button" class="secondary" disabled={isBusy} onClick={() => run(flow.finishBrowser)}>
              I have signed in
            </button>
          </>
        )}
        <button type="button" class="plain" onClick={flow.leave}>
          Cancel
        </button>
      </div>
    </>
  )
}
