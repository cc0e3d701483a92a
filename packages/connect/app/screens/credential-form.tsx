import type { ComponentChildren } from 'preact'
import type { Flow } from '../flow.ts'
import { type Action, Told, useFocusOnError } from './parts.tsx'

/** A form whose fields are encrypted here and sent, with the error of the last try and a way to leave. */
export function CredentialForm(props: {
  /** The errors of the fields. The first field with an error gets the focus. */
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
