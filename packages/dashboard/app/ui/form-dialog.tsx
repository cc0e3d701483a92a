import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAction } from '../action.ts'
import { ProblemAlert } from './problem.tsx'

/** A form in a dialog: Enter submits, a refusal stays in it with what was typed, success closes it. */
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
  return (
    <Modal opened={opened} onClose={onClose} title={title} {...(size ? { size } : {})}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Stack>
          {children}
          <ProblemAlert error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.pending} disabled={disabled}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
