import { Told, useAction } from './parts.tsx'
import type { SlotFormProps } from './slot-form-props.ts'

export function OAuth({ session, flow }: SlotFormProps) {
  const { provider, display } = session
  const { run, isBusy, problem } = useAction()
  return (
    <>
      <p>
        The next page is from {provider.displayName}. Sign in there and agree. After that you come back here by
        yourself; {display.name} never sees your password.
      </p>
      <Told text={problem} />
      <div class="actions">
        <button type="button" class="primary" disabled={isBusy} onClick={() => run(flow.startOAuth)}>
          Go to {provider.displayName}
        </button>
        <button type="button" class="plain" onClick={flow.leave}>
          Cancel
        </button>
      </div>
    </>
  )
}
