import { Button, Group, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { type ApiForm, useSubmit } from '../form/use-api-form.ts'
import { setInputLost } from '../lost-input.ts'
import type { Stale } from '../queries.ts'
import { session } from '../session.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ProblemAlert } from './problem.tsx'

/**
 * A form in a dialog. Enter submits it, and success closes it. On a refusal, it shows the error and keeps the typed
 * text. A click outside does not close it, because typed text would be lost. Nothing closes it while it is being sent,
 * because nobody would see a refusal. With `form`, the fields are checked before `onSubmit` gets their values. The
 * dialog closes after the `stale` queries have reloaded.
 *
 * @example <FormDialog title="Rename" submit="Rename" form={form} onClose={onClose} onSubmit={({ name }) => ...}>
 */
export function FormDialog<V = void>(props: {
  title: string
  submit: string
  onClose: () => void
  form?: ApiForm<V>
  onSubmit: (values: V) => Promise<unknown>
  stale?: readonly Stale[]
  disabled?: boolean
  size?: string
  children: ReactNode
}) {
  const { title, submit, onClose, form, onSubmit, stale, disabled = false, size, children } = props
  const action = useSubmit(form, onSubmit, { stale, done: onClose })
  const close = () => action.pending || onClose()
  // When the session ends, the page unmounts, and this dialog with it.
  const typed = useRef(false)
  useEffect(() => () => void (typed.current && !session.token() && setInputLost(true)), [])
  return (
    <Dialog opened onClose={close} title={title} closeOnClickOutside={false} {...(size ? { size } : {})}>
      <Form onSubmit={() => action.run()}>
        <Stack
          onInput={() => {
            typed.current = true
          }}
        >
          {children}
          <ProblemAlert error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" disabled={action.pending} onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={action.pending} disabled={disabled}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
