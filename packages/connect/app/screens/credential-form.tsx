import type { ComponentChildren } from 'preact'
import type { Flow } from '../flow.ts'
import { type Action, Told, useFocusOnError } from './parts.tsx'

/** A form for what is encrypted here and sent, with what went wrong and the way out. */
export function CredentialForm(props: {
  /** Of its fields: the first one gets the focus. */
  errors: object
  action: Action
  flow: Flow
  onSubmit: () => void
  children: ComponentChildren
}) {
  const { errors, action, flow, onSubmit, children } = props
  const form = useFocusOnError(errors)
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      <Told text={action.problem} />
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          {action.isBusy ? 'Encrypting and sending…' : 'Connect'}
        </button>
        <button type="button" class="plain" onClick={flow.leave}>
          Cancel
        </button>
      </div>
    </form>
  )
}
