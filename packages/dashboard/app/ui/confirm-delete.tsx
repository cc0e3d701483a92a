import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useAction } from '../action.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ProblemAlert } from './problem.tsx'

/**
 * Asks before something happens that cannot be undone. The label of each button is a verb: `confirm` continues, `decline`
 * stops. If `typed` is set, the user must type that text first.
 */
export function ConfirmDelete(props: {
  title: string
  children: ReactNode
  confirm: string
  decline?: string
  typed?: string
  opened?: boolean
  onClose: () => void
  onConfirm: () => Promise<unknown>
}) {
  const { title, children, confirm, decline = 'Cancel', typed, opened = true, onClose, onConfirm } = props
  const [text, setText] = useState('')
  const close = () => {
    setText('')
    onClose()
  }
  const action = useAction(async () => {
    await onConfirm()
    close()
  })
  return (
    <Dialog opened={opened} onClose={() => action.pending || close()} title={title}>
      <Form onSubmit={() => action.run()}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed && (
            <TextInput
              label={
                <>
                  Type <b>{typed}</b> to confirm
                </>
              }
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <ProblemAlert error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" disabled={action.pending} onClick={close}>
              {decline}
            </Button>
            <Button type="submit" color="red" loading={action.pending} disabled={typed !== undefined && text !== typed}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
