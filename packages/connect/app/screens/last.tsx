import { type End, wordsOf } from '../end-screens.ts'
import type { Flow } from '../flow.ts'
import type { ConnectSession } from '../server.ts'
import { Heading } from './parts.tsx'

export function Done({ session, flow }: { session: ConnectSession; flow: Flow }) {
  const { provider, display, returnUrl } = session
  return (
    <>
      <p class="mark" aria-hidden="true">
        ✓
      </p>
      <Heading>{`${provider.displayName} is connected`}</Heading>
      <p>
        {display.name} can use it now. You can disconnect it at any time, through {display.name}.
      </p>
      {returnUrl === null ? <p>You can close this page.</p> : <Back product={display.name} flow={flow} />}
    </>
  )
}

interface EndedProps {
  end: End
  returnUrl: string | null
  product: string | null
  flow: Flow
  retry: () => void
}

export function Ended({ end, returnUrl, product, flow, retry }: EndedProps) {
  const { title, text, canRetry } = wordsOf(end)
  return (
    <>
      <Heading>{title}</Heading>
      <p>{text}</p>
      {canRetry ? (
        <div class="actions">
          <button type="button" class="primary" onClick={retry}>
            Try again
          </button>
        </div>
      ) : null}
      {returnUrl !== null && product !== null ? <Back product={product} flow={flow} /> : null}
    </>
  )
}

const Back = ({ product, flow }: { product: string; flow: Flow }) => (
  <div class="actions">
    <button type="button" class="primary" onClick={flow.leave}>
      Back to {product}
    </button>
  </div>
)
