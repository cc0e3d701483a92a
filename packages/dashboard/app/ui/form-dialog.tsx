import { Button, Group, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useAction } from '../action.ts'
import { setForgotten } from '../forgotten.ts'
import { session } from '../session.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ProblemAlert } from './problem.tsx'

/**
 * A form in a dialog: Enter submits, a refusal stays in it with what was typed, success closes it. A click beside it does
 * not, for it would lose what was typed; nor does anything while it is being sent, for a refusal would be seen by nobody.
 */
export function FormDialog(props: {
  title: string
  submit: string
  opened: boolean
  onClose: () => void
  onSubmit: () => Promise<unknown>
  disabled?: boolean
  size?: string
  children: ReactNode
}) {
  const { title, submit, opened, onClose, onSubmit, disabled = false, size, children } = props
  const action = useAction(async () => {
    await onSubmit()
    onClose()
  })
  const close = () => action.pending || onClose()
  // It ends with its page when the session does.
  const typed = useRef(false)
  useEffect(() => () => void (typed.current && !session.token() && setForgotten(true)), [])
  return (
    <Dialog opened={opened} onClose={close} title={title} closeOnClickOutside={false} {...(size ? { size } : {})}>
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
